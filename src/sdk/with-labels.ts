import type { JsonObject } from '../protocol/canonical-json.ts';
import type { Call, CallName } from './call.ts';
import type { Settings } from './options.ts';

/** Calls that bind no device. */
const unlabelled: ReadonlySet<CallName> = new Set(['devices.list', 'devices.release']);

/** Adds the device's name and platform to the requests that may bind it. */
export function withLabels<Names extends CallName>(
  call: Call<Names>,
  { deviceName, platform }: Pick<Settings, 'deviceName' | 'platform'>,
): Call<Names> {
  const labels: JsonObject = {
    ...(deviceName !== undefined && { deviceName }),
    ...(platform !== undefined && { platform }),
  };
  return (input) =>
    call(unlabelled.has(input.call) ? input : { ...input, members: { ...labels, ...input.members } });
}
