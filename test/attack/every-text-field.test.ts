/** @module-tag slow */
import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { clientPaths } from '../../src/protocol/constants.ts';
import {
  innerListDevicesRequest,
  innerLoginRequest,
  innerMoveDeviceRequest,
  innerRegisterRequest,
  innerReleaseDeviceRequest,
  innerUpgradeRequest,
  innerValidateRequest,
  verdictCodes,
} from '../../src/protocol/messages.ts';
import { forEachOf, naughtyStrings, noLimits } from '../api/support.ts';
import { answeredOnce } from '../graphql/fields.ts';
import { createFullAccount, type FullAccount } from '../graphql/full-account.ts';
import { ApiClient } from '../setup/api-client.ts';
import { openSession } from '../setup/sealed-client.ts';
import { startTestServer, type TestServer } from '../setup/server.ts';
import { createWorld } from '../setup/world.ts';
import { contractRoutes, textPlaces } from './contract.ts';

const strings = naughtyStrings();
/** Each field gets a different part of the strings. Together, the fields get all of them several times. */
const perField = 24;
let turn = 0;
const nextStrings = (): readonly string[] => {
  const all = strings ?? [];
  const start = (turn++ * perField) % Math.max(1, all.length);
  return [...all.slice(start, start + perField), 'a\0b', '\ud800', 'x\udc00'];
};

let server: TestServer;
let world: FullAccount;
beforeAll(async () => {
  server = await startTestServer({ env: noLimits });
  world = await createFullAccount(server);
});
afterAll(() => server.close());

type Place = readonly (string | number)[];

/** Sets one place of a value. */
function withAt(place: Place, text: string): unknown {
  const [first, ...rest] = place;
  if (first === undefined) return text;
  return typeof first === 'number' ? [withAt(rest, text)] : { [first]: withAt(rest, text) };
}

const merge = (good: Readonly<Record<string, unknown>>, place: Place, text: string) => ({
  ...good,
  ...z.record(z.string(), z.unknown()).parse(withAt(place, text)),
});

const isHeldWell = (text: string) => text.isWellFormed() && !text.includes('\0');

/** All routes with a text in their bodies, including new ones. */
const places = contractRoutes.flatMap((route) =>
  route.body === null
    ? []
    : textPlaces(route.body).map((place): [string, typeof route, Place] => [
        `${route.operationId} ${place.join('.')}`,
        route,
        place,
      ]),
);

/** A wrong password, so that requests to delete the account or change its password are refused. */
const wrongPassword = { password: 'not the password' };

describe.skipIf(strings === null)('naughty strings', () => {
  test('cover every text of every body', () => {
    expect(places.length).toBeGreaterThan(40);
  });

  test.each(places)('in REST: %s', { timeout: 60_000 }, async (_name, route, place) => {
    const path = `/api/v1${route.path.replace('{id}', /licenses/.test(route.path.slice(0, 10)) ? world.ids.license : world.ids.application)}`;
    await forEachOf(nextStrings(), 4, async (text) => {
      const body = merge({ ...wrongPassword, applicationId: world.ids.application }, place, text);
      const client = route.isOpen ? new ApiClient(server.baseUrl) : world.client;
      const { status, body: answer } = await client.send(route.method, path, body);
      expect(status, JSON.stringify(text)).toBeLessThan(500);
      expect(JSON.stringify(answer)).not.toMatch(/node_modules|\.ts:\d|SELECT /);
      if (!isHeldWell(text)) expect(answer, JSON.stringify(text)).toMatchObject({ success: false });
    });
  });

  const queries = contractRoutes.flatMap((route) =>
    route.query.map((name): [string, typeof route, string] => [`${route.operationId} ${name}`, route, name]),
  );

  test.each(queries)('in a query: %s', async (_name, route, name) => {
    await forEachOf(nextStrings(), 4, async (text) => {
      const query = new URLSearchParams({ [name]: text.toWellFormed() }).toString();
      const path = `/api/v1${route.path.replace('{id}', world.ids.application)}?${query}`;
      const { status, body } = await world.client.get(path);
      expect([200, 400], JSON.stringify([text, body])).toContain(status);
      if (text.includes('\0')) expect(body).toMatchObject({ code: 'VALIDATION_FAILED' });
    });
  });

  const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

  /** Places of texts in an input type. */
  function placesOf(type: GraphQLInputType, at: Place): Place[] {
    if (isNonNullType(type)) return placesOf(type.ofType, at);
    if (isListType(type)) return placesOf(type.ofType, [...at, 0]);
    if (isInputObjectType(type))
      return Object.values(type.getFields()).flatMap((field) => placesOf(field.type, [...at, field.name]));
    return isScalarType(type) && ['String', 'ID'].includes(type.name) ? [at] : [];
  }

  /** Puts a text into valid variables at one place. */
  function replaced(value: unknown, place: Place, text: string): unknown {
    const [first, ...rest] = place;
    if (first === undefined) return text;
    if (typeof first === 'number') return [replaced(Array.isArray(value) ? value[0] : undefined, rest, text)];
    const object = typeof value === 'object' && value !== null ? value : {};
    const before: unknown = Object.entries(object).find(([name]) => name === first)?.[1];
    return { ...object, [first]: replaced(before, rest, text) };
  }

  const graphqlPlaces = answeredOnce
    .filter(({ once }) => once !== true)
    .flatMap(({ field, variables }) => {
      const [root = '', name = ''] = field.split('.');
      const type = root === 'Query' ? schema.getQueryType() : schema.getMutationType();
      const args = type?.getFields()[name]?.args ?? [];
      return args.flatMap((argument) =>
        placesOf(argument.type, [argument.name]).map((place) => ({
          what: `${field} ${place.join('.')}`,
          root,
          name,
          args,
          place,
          variables,
        })),
      );
    });

  test('cover every text of every GraphQL argument', () => {
    expect(graphqlPlaces.length).toBeGreaterThan(30);
  });

  test.each(graphqlPlaces)(
    'in GraphQL: $what',
    { timeout: 60_000 },
    async ({ root, name, args, place, variables }) => {
      const declared = args.map((argument) => `$${argument.name}: ${argument.type}`).join(', ');
      const passed = args.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
      const query = `${root.toLowerCase()} (${declared}) { ${name}(${passed}) { __typename } }`;
      await forEachOf(nextStrings(), 4, async (text) => {
        const good = variables(world.ids, wrongPassword.password);
        const answer = await world.graphql.ask(query, replaced(good, place, text));
        expect(answer.status, JSON.stringify(text)).toBeLessThan(500);
        expect(answer.codes, JSON.stringify(text)).not.toContain('INTERNAL');
        if (!isHeldWell(text)) expect(answer.codes.length, JSON.stringify(text)).toBeGreaterThan(0);
      });
    },
  );

  const inner = [
    ['validate', clientPaths.validate, innerValidateRequest],
    ['register', clientPaths.register, innerRegisterRequest],
    ['login', clientPaths.login, innerLoginRequest],
    ['upgrade', clientPaths.upgrade, innerUpgradeRequest],
    ['devices.list', clientPaths['devices.list'], innerListDevicesRequest],
    ['devices.release', clientPaths['devices.release'], innerReleaseDeviceRequest],
    ['devices.move', clientPaths['devices.move'], innerMoveDeviceRequest],
  ] as const;
  const labels = ['deviceName', 'platform'];
  const sealedPlaces = inner.flatMap(([name, path, { shape }]) =>
    Object.keys(shape)
      .filter((member) => !['timestamp', 'v', 'echoNonce'].includes(member))
      .map((member): [string, string, string] => [`${name} ${member}`, path, member]),
  );

  test.each(sealedPlaces)('inside the seal: %s', { timeout: 60_000 }, async (_name, path, member) => {
    // With a separate vendor, because the strings above have changed all settings of the other's application.
    const application = await (await createWorld(server)).createApplication();
    const session = await openSession(server, application);
    const good = { licenseKey: 'NONE', username: 'nobody', password: 'not the password' };
    await forEachOf(nextStrings(), 4, async (text) => {
      const answer = await session.client.post(
        path,
        session.seal(session.inner({ ...good, [member]: text })),
      );
      const { code } = session.open(answer);
      expect(verdictCodes, JSON.stringify(text)).toContain(code);
      // Malformed labels count as not sent, and so does whatever is no member of a call.
      if (!isHeldWell(text) && !labels.includes(member)) {
        expect(code, JSON.stringify(text)).toBe('VALIDATION_FAILED');
      }
    });
  });

  test('cause no unexpected error', () => {
    expect(server.logLines.filter((line) => line.includes('unexpectedly'))).toEqual([]);
  });
});
