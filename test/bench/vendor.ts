import { z } from 'zod';

/** A vendor's account, over REST with an API key. */
export interface Vendor {
  readonly apiKey: string;
  /** @throws {Error} with what the service said, when it refuses or answers another shape */
  get<Body extends z.ZodType>(path: string, body: Body): Promise<z.output<Body>>;
  post<Body extends z.ZodType>(path: string, input: object, body: Body): Promise<z.output<Body>>;
  patch(path: string, input: object): Promise<void>;
}

const madeKey = z.object({ key: z.object({ apiKey: z.string() }) });

/** Registers a vendor, and makes an API key. */
export async function createVendor(baseUrl: string): Promise<Vendor> {
  const account = { email: 'bench@example.com', password: 'correct horse battery staple', name: 'Bench' };
  const registered = await ask(`${baseUrl}/api/v1/auth/register`, account);
  const cookie = registered.headers.getSetCookie()[0]?.split(';')[0];
  if (cookie === undefined) throw new Error('The service set no cookie at registration');
  const answer = await ask(`${baseUrl}/api/v1/account/api-keys`, { name: 'bench' }, { Cookie: cookie });
  const { apiKey } = madeKey.parse(await answer.json()).key;
  const credentials = { Authorization: `Bearer ${apiKey}` };
  return {
    apiKey,
    get: async (path, body) => body.parse(await (await ask(baseUrl + path, undefined, credentials)).json()),
    post: async (path, input, body) =>
      body.parse(await (await ask(baseUrl + path, input, credentials)).json()),
    patch: async (path, input) => {
      await ask(baseUrl + path, input, credentials, 'PATCH');
    },
  };
}

/** Sends this input, a GET without. */
async function ask(
  url: string,
  input?: object,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<Response> {
  const answer =
    input === undefined
      ? await fetch(url, { headers })
      : await fetch(url, {
          method,
          headers: { 'Content-Type': 'application/json', ...headers },
          body: JSON.stringify(input),
        });
  if (!answer.ok)
    throw new Error(`${new URL(url).pathname} answered ${answer.status}: ${await answer.text()}`);
  return answer;
}
