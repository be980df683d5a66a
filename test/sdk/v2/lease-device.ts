import type { JsonObject } from '../../../src/protocol/canonical-json.ts';
import { deviceHash } from '../../../src/protocol/v2/device-hash.ts';
import { leaseHeader } from '../../../src/protocol/v2/signed-token.ts';
import { type Client, type ClientOptions, createClient } from '../../../src/sdk/index.ts';
import { appId, entitlements, licenseId, type StandIn } from './stand-in.ts';
import { storeInMemory } from './stores.ts';

export const licenseKey = 'QW7RT-9XKLM-2VBNP-HJ4DF-6SGC8';
export const hwid = 'device-1';
export const minute = 60;
export const hour = 60 * minute;
export const day = 24 * hour;
/** Of the leases in these tests. */
export const term = 7 * day;

/** A device with a program, whose clocks stand still unless a test moves them. */
export function createDevice(server: StandIn, more: Partial<ClientOptions> = {}) {
  const store = storeInMemory();
  const clock = { now: server.clock, runTime: 0 };
  const start = (): Client =>
    createClient({
      ...server.options,
      leases: true,
      store,
      now: () => clock.now,
      runTime: () => clock.runTime,
      ...more,
    });
  let client = start();
  return {
    store,
    clock,
    /** Ends the program and starts it again; a runtime's clock begins anew. */
    restart() {
      clock.runTime = 0;
      client = start();
    },
    validate: (options: { hwid?: string; signal?: AbortSignal } = { hwid }) =>
      client.validate(licenseKey, options),
    client: () => client,
    /** Lets seconds pass, on every clock, while the program runs. */
    pass(seconds: number) {
      clock.now += seconds * 1000;
      clock.runTime += seconds * 1000;
      server.clock += seconds * 1000;
    },
    /** Lets seconds pass while the program does not run. */
    passWithoutProgram(seconds: number) {
      clock.now += seconds * 1000;
      server.clock += seconds * 1000;
    },
    /** Sets the device's own clock. */
    turnClock(seconds: number) {
      clock.now += seconds * 1000;
    },
  };
}

/** Claims of a lease that the service issues now. */
export function claimsOf(server: StandIn, change: JsonObject = {}): JsonObject {
  const iat = Math.floor(server.clock / 1000);
  return {
    aud: appId,
    sub: licenseId,
    jti: '01890a5d-ac96-774b-bcce-b302099a8060',
    iat,
    nbf: iat,
    exp: iat + term,
    lex: Date.parse('2030-01-01T00:00:00.000Z') / 1000,
    dev: deviceHash(appId, hwid),
    tier: 3,
    ent: entitlements,
    rev: 1,
    seq: 1,
    ...change,
  };
}

/** Lets the service issue leases where it is asked for one, with a rising `seq`. */
export function issueLeases(server: StandIn, change: JsonObject = {}): { issued: string[] } {
  const issued: string[] = [];
  server.onCall = ({ request, answer, sealed }) => {
    const isAsked = request.call === 'lease' || ('lease' in request && request.lease === true);
    if (answer.success !== true || !isAsked) return sealed(answer);
    const token = server.token(leaseHeader, claimsOf(server, { seq: issued.length + 1, ...change }));
    issued.push(token);
    return sealed({ ...answer, lease: token });
  };
  return { issued };
}

/** Takes the network away. */
export function disconnect(server: StandIn): void {
  server.onCall = () => (response) => response.destroy();
  server.onKeys = () => (response) => response.destroy();
}
