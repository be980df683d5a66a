import type { ServiceContext } from '../context.ts';
import type { ApplicationView } from './view.ts';

/** The values that a developer builds into their program, and code to paste. */
export interface SdkHint {
  readonly baseUrl: string;
  readonly appId: string;
  readonly version: string;
  readonly publicKeyB64: string;
  /** The version of the client protocol. */
  readonly protocol: 2;
  /** TypeScript that validates a license with the SDK. */
  readonly snippet: string;
}

export function sdkHint(
  ctx: ServiceContext,
  application: Pick<ApplicationView, 'id' | 'version' | 'publicKeyB64'>,
): SdkHint {
  const values = {
    baseUrl: ctx.env.settings.publicUrl,
    appId: application.id,
    version: application.version,
    publicKeyB64: application.publicKeyB64,
    protocol: 2,
  } as const;
  const snippet = [
    "import { createClient } from '@latchkey/client';",
    `const client = createClient(${JSON.stringify(values, null, 2)});`,
    'const answer = await client.validate(licenseKey, { hwid });',
  ].join('\n');
  return { ...values, snippet };
}
