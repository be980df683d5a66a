import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { bareMaterial } from './material.ts';
import { createBareServer } from './server.ts';

/** The bare program: reads its material from standard input, and writes the port that it serves at on loopback. */
const material = bareMaterial.parse(JSON.parse(await text(process.stdin)));
const server = createBareServer(material).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = z.object({ port: z.number() }).parse(server.address());
process.stdout.write(`${port}\n`);
// Its parent may die of a fault of its own; nothing else ends this then.
setInterval(() => {
  if (process.ppid === 1) process.exit(1);
}, 1000).unref();
