/** A receiver that verifies each message; docs/webhooks.md has the whole of it. */
export const verifyExample = `import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET); // whsec_…

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  let event;
  try {
    // The bytes as they arrived: parse them after this.
    event = webhook.verify(Buffer.concat(chunks), request.headers);
  } catch {
    return response.writeHead(400).end();
  }
  // The same event can arrive twice: remember event.id.
  console.log(event.type, event.subject, event.data);
  response.writeHead(204).end();
}).listen(8080);`;
