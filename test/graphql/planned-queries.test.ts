import { setImmediate } from 'node:timers/promises';
import type { GraphQLResolveInfo } from 'graphql';
import { createSchema } from 'graphql-yoga';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ResolveTogether } from '../../src/graphql/resolve-together.ts';
import { type Asked, servePlanned } from './planned-service.ts';

const unhandled: unknown[] = [];
const noteUnhandled = (reason: unknown) => unhandled.push(reason);
beforeAll(() => process.on('unhandledRejection', noteUnhandled));
afterAll(() => process.off('unhandledRejection', noteUnhandled));
afterEach(async () => {
  // Node tells of a rejection when the microtasks are done.
  await setImmediate();
  expect(unhandled.splice(0)).toEqual([]);
});

type Resolvers = NonNullable<Parameters<typeof createSchema>[0]['resolvers']>;

const serveTypes = (typeDefs: string, resolvers: Resolvers) =>
  servePlanned(createSchema({ typeDefs, resolvers }));

/** Asks four times, holds all answers to the first, the executor's, and says which uses the executor answered. */
async function askFourTimes(ask: ReturnType<typeof servePlanned>, asked: Asked) {
  const first = await ask(asked);
  const executed = [first.isExecuted];
  for (let use = 2; use <= 4; use++) {
    const { text, isExecuted } = await ask(asked);
    expect(text, `use ${use}`).toBe(first.text);
    executed.push(isExecuted);
  }
  return { text: first.text, executed };
}

const byPlan = [true, false, false, false];
const byExecutor = [true, true, true, true];

/** Resolves after so many turns of the event loop. */
async function inTurns<Value>(turns: number, value: Value): Promise<Value> {
  for (let turn = 0; turn < turns; turn++) await setImmediate();
  return value;
}

/** A family of nodes, whose fields are called what objects have as well. */
const family = createSchema({
  typeDefs: `
    type Query { node: Node! nodes(amount: Int = 3): [Node!]! none: [Node] nothing: Node lists: [[Node]]
      constructor: Int again(of: Int = 4): String text(of: String): String }
    type Mutation { constructor: Int }
    type Subscription { ticks: Int }
    type Node { id: ID! name: String child: Node! toJSON: String toString: String hasOwnProperty: Boolean late(turns: Int = 1): Int }
  `,
  resolvers: {
    Query: {
      node: () => ({ id: 'root' }),
      nodes: (_root: unknown, { amount }: { amount: number }) =>
        Array.from({ length: amount }, (_, index) => ({ id: `node ${index}` })),
      none: () => [],
      nothing: () => null,
      lists: () => [[{ id: 'a' }, null], null, [], [{ id: 'b' }]],
      constructor: () => 1,
      again: (_root: unknown, { of }: { of: number }) => `to ${of}`,
      text: (_root: unknown, { of }: { of: string }) => of,
    },
    Mutation: { constructor: () => 2 },
    Subscription: {
      ticks: {
        subscribe: async function* () {
          yield { ticks: 1 };
          yield { ticks: 2 };
        },
      },
    },
    Node: {
      name: ({ id }: { id: string }) => `name of ${id}`,
      child: ({ id }: { id: string }) => ({ id: `${id}.` }),
      toJSON: () => 'json',
      hasOwnProperty: () => true,
      late: ({ id }: { id: string }, { turns }: { turns: number }) => inTurns(turns, id.length),
    },
  },
});

describe('a query that comes again is answered by its plan, with the same bytes', () => {
  test.each([
    ['one field', '{ node { name } }'],
    ['members in any order', '{ nodes { name id child { name id } } node { id name } }'],
    ['a name', 'query Named { node { id } }'],
    [
      'arguments, their defaults, and none',
      '{ a: nodes(amount: 1) { id } nodes { id } b: nodes(amount: 0) { id } }',
    ],
    ['nothing, in lists and outside', '{ none { id } nothing { id } lists { id child { id } } }'],
    ['`__typename`', '{ __typename a: __typename node { __typename id: __typename child { __typename } } }'],
    [
      'fields of names that objects have',
      '{ constructor again x: again(of: 5) node { toString toJSON hasOwnProperty } }',
    ],
    [
      'aliases of names that objects have',
      '{ __proto__: node { __proto__: id constructor: name toString: child { toJSON: id __proto__: name } valueOf: toJSON hasOwnProperty: child { id } } toJSON: constructor hasOwnProperty: text(of: "") }',
    ],
    [
      'aliases that swap names',
      '{ node { id: name name: id child: toJSON toJSON: child { name: toJSON } } }',
    ],
    [
      'a field under several aliases',
      '{ a: text(of: "a") b: text(of: "b") node { x: child { id } y: child { id name } child { name } } }',
    ],
    [
      'fragments in fragments, one of them spread twice',
      '{ node { ...A ...B ...A child { ...B } } } fragment A on Node { id ...B child { ...C } } fragment B on Node { name child { id } } fragment C on Node { toJSON ... { name ... on Node { id } } }',
    ],
    [
      'fields that are merged',
      '{ node { child { id } id } nodes { id } node { name child { name child { id } } } ... on Query { nodes { child { id } } } }',
    ],
    ['late fields', '{ node { late id } nodes { late(turns: 2) child { late } name } }'],
    [
      'late fields that come in the opposite order',
      '{ nodes { a: late(turns: 4) b: late(turns: 3) c: late(turns: 2) d: late(turns: 1) e: late(turns: 0) } node { late(turns: 5) } }',
    ],
    [
      'texts that look like code',
      '{ a: text(of: "\\"); process.exit(1); (\\"") b: text(of: "$\\u007bprocess.exit(1)}") c: text(of: """`\\u2028""") }',
    ],
  ])('%s', async (_name, query) => {
    const { text, executed } = await askFourTimes(servePlanned(family), { query });
    expect(text).toMatch(/^\{"data":\{/);
    expect(executed).toEqual(byPlan);
  });

  test('late rows and members, whichever comes first', async () => {
    const turns = [3, 0, 2, 1];
    for (let shift = 0; shift < 4; shift++) {
      const turnsOf = (index: number) => turns[(index + shift) % 4] ?? 0;
      const ask = serveTypes('type Query { rows: [Row] other: Int } type Row { a: Int b: Row c: [Int] }', {
        Query: {
          rows: () =>
            inTurns(
              turnsOf(0),
              [0, 1, 2, 3].map((id) => ({ id })),
            ),
          other: () => inTurns(turnsOf(1), 5),
        },
        Row: {
          a: ({ id }: { id: number }) => inTurns(turnsOf(id), id),
          b: ({ id }: { id: number }) =>
            id % 2 === 0 ? { id: id + 10 } : inTurns(turnsOf(id), { id: id + 20 }),
          c: ({ id }: { id: number }) => inTurns(turnsOf(id + 1), [id, null]),
        },
      });
      const { executed } = await askFourTimes(ask, { query: '{ rows { c b { a c b { a } } a } other }' });
      expect(executed).toEqual(byPlan);
    }
  });

  test('variables of every kind, and others at the next use', async () => {
    const ask = servePlanned(family);
    const query =
      'query ($amount: Int, $of: String = "text") { nodes(amount: $amount) { id } text(of: $of) }';
    const uses = [{ amount: 2 }, {}, { amount: 1, of: null }, { of: '__proto__', other: 1 }, { amount: 0 }];
    await ask({ query });
    for (const variables of uses) {
      const { text, isExecuted } = await ask({ query, variables });
      expect(isExecuted).toBe(false);
      const anew = await ask({ query: `${query} # ${JSON.stringify(variables)}`, variables });
      expect(anew.isExecuted).toBe(true);
      expect(text).toBe(anew.text);
    }
  });

  test('a variable that is called like what every object has', async () => {
    const query =
      'query ($constructor: String, $toString: Int) { text(of: $constructor) nodes(amount: $toString) { id } }';
    const variables = { constructor: 'given' };
    expect((await askFourTimes(servePlanned(family), { query, variables })).executed).toEqual(byPlan);
    // The executor does not find this one's value.
    const prototype = {
      query: 'query ($__proto__: String) { text(of: $__proto__) }',
      variables: { ['__proto__']: 'given' },
    };
    const { text } = await askFourTimes(servePlanned(family), prototype);
    expect(text).toBe('{"data":{"text":null}}');
  });

  test('each use has its own context and variables, when fifty are answered at once', async () => {
    const ask = serveTypes('type Query { mine(of: Int): [Row] } type Row { of: Int who: String row: Row }', {
      Query: { mine: (_root: unknown, { of }: { of: number }) => inTurns(of % 3, [{ of }, { of }]) },
      Row: {
        who: ({ of }: { of: number }, _given: unknown, { who }: { who: string }) => inTurns(of % 4, who),
        row: ({ of }: { of: number }) => inTurns(of % 2, { of }),
      },
    });
    const query = 'query ($of: Int) { mine(of: $of) { of who row { who row { of } } } }';
    await ask({ query });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, of) => ask({ query, variables: { of } }, { who: `developer ${of}` })),
    );
    for (const [of, { text, isExecuted }] of answers.entries()) {
      const who = `developer ${of}`;
      const row = { of, who, row: { who, row: { of } } };
      expect(text).toBe(JSON.stringify({ data: { mine: [row, row] } }));
      expect(isExecuted).toBe(false);
    }
  });
});

describe('left to the executor', () => {
  const kinds = createSchema({
    typeDefs: `
      directive @mark on FIELD
      type Query { one: Int counted: Int shape: Shape sides: Sides typed: Typed node: Node }
      interface Shape { one: Int }
      type Square implements Shape { one: Int }
      union Sides = Square | Typed
      type Typed { one: Int }
      type Node { child: Node one: Int }
    `,
    resolvers: {
      Query: {
        one: () => 1,
        counted: () => 2,
        shape: () => ({ __typename: 'Square', one: 3 }),
        sides: () => ({ __typename: 'Square', one: 4 }),
        typed: () => ({ one: 5 }),
        node: () => ({}),
      },
      Typed: { __isTypeOf: () => true },
      Node: { child: () => ({}), one: () => 6 },
    },
  });
  const counted = kinds.getQueryType()?.getFields().counted;
  if (counted) counted.extensions = { rateLimitName: 'auth' };

  test.each([
    ['`__schema`', '{ one __schema { queryType { name } } }'],
    ['`__type`', '{ __type(name: "Node") { name } one }'],
    ['a directive on a field', '{ one @skip(if: false) }'],
    ['a directive on a fragment', '{ ... @include(if: true) { one } }'],
    ['a directive on a spread', '{ ...F @include(if: true) } fragment F on Query { one }'],
    ['a directive in a fragment', '{ ...F } fragment F on Query { node { one @mark } }'],
    ['an interface', '{ shape { one } }'],
    ['a union', '{ sides { ... on Square { one } } }'],
    ['a fragment on an interface', '{ shape { ... on Square { one } } }'],
    ['a type with isTypeOf', '{ typed { one } }'],
    ['a field with a rate limit', '{ one counted }'],
    ['501 fields', `{ ${Array.from({ length: 501 }, (_, index) => `a${index}: one`).join(' ')} }`],
    [
      'more than 500 fields through fragments',
      `{ node { ...F0 } } ${Array.from({ length: 9 }, (_, index) => `fragment F${index} on Node { a: child { ...F${index + 1} } b: child { ...F${index + 1} } }`).join(' ')} fragment F9 on Node { one }`,
    ],
  ])('%s', async (_name, query) => {
    const { text, executed } = await askFourTimes(servePlanned(kinds), { query });
    expect(text).toMatch(/^\{"data":\{/);
    expect(executed).toEqual(byExecutor);
  });

  test('but not 500 fields', async () => {
    const query = `{ ${Array.from({ length: 500 }, (_, index) => `a${index}: one`).join(' ')} }`;
    expect((await askFourTimes(servePlanned(kinds), { query })).executed).toEqual(byPlan);
  });

  test('mutations, and subscriptions', async () => {
    const ask = servePlanned(family);
    const mutation = await askFourTimes(ask, { query: 'mutation { constructor }' });
    expect(mutation).toEqual({ text: '{"data":{"constructor":2}}', executed: byExecutor });
    const subscription = await askFourTimes(ask, { query: 'subscription { ticks }' });
    expect(subscription.text).toContain('{"data":{"ticks":2}}');
  });

  test('an operation among several, as a short text could have hundreds of plans', async () => {
    const ask = servePlanned(family);
    const query = 'query A { constructor } query B { again }';
    for (const operationName of ['A', 'B'])
      expect((await askFourTimes(ask, { query, operationName })).executed).toEqual(byExecutor);
  });

  test.each([
    [{ query: 'query A { constructor } query B { again }' }],
    [{ query: 'query A { constructor } query B { again }', operationName: 'C' }],
    [{ query: 'query A { constructor }', operationName: 'C' }],
  ])('no operation that is not named: %j', async (asked) => {
    const ask = servePlanned(family);
    await askFourTimes(ask, { query: asked.query, operationName: 'A' });
    expect((await askFourTimes(ask, asked)).text).toMatch(/OPERATION_RESOLUTION_FAILURE/);
  });

  test('what nobody sends', async () => {
    const { executed } = await askFourTimes(servePlanned(kinds, 'nobody'), { query: '{ one }' });
    expect(executed).toEqual(byExecutor);
  });
});

describe('what goes wrong is told by the executor, from the beginning', () => {
  const failing = createSchema({
    typeDefs: `
      enum Color { RED BLUE }
      input In { must: Int! list: [Int!] }
      type Query {
        early: Int late: Int rows: [Row] must: Int! level(nullAt: Int): Level
        throwing: Int rejecting: Int rejectingLate: Int error: Int errorRow: Row lateError: Int
        int: Int color: Color boolean: Boolean undefinedLeaf: Odd oddThrows: Odd
        number: [Int] text: [String] object: [Int] set: [Int] generated: [Int] asyncGenerated: [Int]
        promises: [Int] rejectedItems: [Int] rejectedInside: [[Int]] rejectedRows: [Level] errors: [Int] holes: [Int] holesOfLists: [[Int]]
        need(it: Int!): Int give(it: In): Int path: String rowsPath: [Row]
      }
      scalar Odd
      type Row { id: Int fails: Int failsLate: Int itemsFail: [[Int]] mustNotFail: Int! path: String rejectedItems: [Int] }
      type Level { level: Level! leaf: Int! list: [Level!]! lists: [[Int!]!]! lateLevel: Level! }
    `,
    resolvers: {
      Query: {
        early: () => 1,
        late: () => inTurns(2, 2),
        rows: () => [{ id: 0 }, { id: 1 }, { id: 2 }],
        rowsPath: () => [{ id: 0 }],
        must: () => inTurns(1, null),
        level: (_root: unknown, { nullAt }: { nullAt: number }) => ({ nullAt }),
        throwing: () => {
          throw new Error('at once');
        },
        rejecting: () => Promise.reject(new Error('rejected')),
        rejectingLate: async () => {
          await inTurns(3, null);
          throw new Error('later');
        },
        error: () => new Error('returned'),
        errorRow: () => new Error('returned'),
        lateError: () => inTurns(1, new Error('returned later')),
        int: () => 'no number',
        color: () => 'GREEN',
        boolean: () => ({}),
        undefinedLeaf: () => 'undefined',
        oddThrows: () => 'throws',
        number: () => 5,
        text: () => 'a text',
        object: () => ({ length: 1, 0: 1 }),
        set: () => new Set([1, 2]),
        generated: function* () {
          yield 1;
        },
        asyncGenerated: async function* () {
          yield 1;
        },
        promises: () => [inTurns(1, 1), 2, inTurns(0, 3)],
        rejectedItems: () => [1, Promise.reject(new Error('item')), Promise.reject(new Error('item 2'))],
        rejectedInside: () => [[1], [Promise.reject(new Error('inside'))], Promise.reject(new Error('list'))],
        rejectedRows: () => [{}, Promise.reject(new Error('row'))],
        errors: () => [1, new Error('in a list')],
        holes: () => Object.assign(new Array(3), { 1: 1 }),
        holesOfLists: () => [Object.assign(new Array(2), { 1: 1 }), [2, 3]],
        need: () => 1,
        give: () => 1,
        path: (_root: unknown, _given: unknown, _context: unknown, { path }: GraphQLResolveInfo) =>
          typeof path,
      },
      Row: {
        fails: ({ id }: { id: number }) => {
          if (id === 1) throw new Error('row 1');
          // The first row's is begun when the second throws.
          return Promise.reject(new Error(`row ${id}`));
        },
        // The items of the first row have failed long before the last row's come.
        itemsFail: async ({ id }: { id: number }) => {
          await inTurns(3 * id, null);
          return [[Promise.reject(new Error(`item of row ${id}`))], Promise.reject(new Error('items'))];
        },
        failsLate: ({ id }: { id: number }) => inTurns(id, id === 2 ? new Error('row 2') : id),
        mustNotFail: ({ id }: { id: number }) => (id === 1 ? null : inTurns(1, id)),
        path: (_row: unknown, _given: unknown, _context: unknown, { path }: GraphQLResolveInfo) =>
          typeof path.prev,
        rejectedItems: ({ id }: { id: number }) => {
          if (id === 2) throw new Error('the last row');
          return [Promise.reject(new Error(`item of row ${id}`))];
        },
      },
      Odd: { __serialize: (value: unknown) => (value === 'undefined' ? undefined : String(value)) },
      Level: Object.fromEntries(
        ['level', 'lateLevel', 'leaf', 'list', 'lists'].map((field) => [
          field,
          ({ nullAt }: { nullAt: number }) => {
            const below = { nullAt: nullAt - 1 };
            if (nullAt === 0) return null;
            if (field === 'leaf') return 1;
            if (field === 'lateLevel') return inTurns(1, below);
            if (field === 'list') return [below, nullAt === 1 ? null : below];
            return field === 'lists' ? [[1], nullAt === 1 ? null : [nullAt === 2 ? null : 2]] : below;
          },
        ]),
      ),
    },
  });

  const withErrors = [
    'throwing',
    'rejecting',
    'rejectingLate',
    'error',
    'errorRow { id }',
    'lateError',
    'must',
    'int',
    'color',
    'boolean',
    'undefinedLeaf',
    'number',
    'text',
    'object',
    'rejectedItems',
    'rejectedInside',
    'rejectedRows { leaf }',
    'errors',
    'rows { fails }',
    'rows { failsLate }',
    'rows { itemsFail }',
    'rows { id mustNotFail id }',
    'rows { rejectedItems }',
    ...[0, 1, 2, 3].flatMap((depth) =>
      [
        'leaf',
        'list { leaf }',
        'lists',
        'level { leaf }',
        'lateLevel { leaf }',
        'level { list { lateLevel { lists } } }',
      ].map((selection) => `level(nullAt: ${depth}) { ${selection} lateLevel { leaf } }`),
    ),
  ];
  test.each(withErrors)('%s', async (selection) => {
    const alone = await askFourTimes(servePlanned(failing), { query: `{ ${selection} }` });
    if (alone.text.includes('"errors"')) expect(alone.executed).toEqual(byExecutor);
    else expect(alone.executed).toEqual(byPlan);
    if (!selection.startsWith('level')) expect(alone.text).toMatch(/"errors"/);
    const query = `{ a: late z: rejecting rows { id } ${selection} b: late early c: rejecting d: rows { failsLate } }`;
    expect((await askFourTimes(servePlanned(failing), { query })).executed).toEqual(byExecutor);
  });

  test('nulls in places that have none do fail at each depth that was asked', async () => {
    const ask = servePlanned(failing);
    for (const [depth, selection] of ['leaf', 'level { leaf }', 'level { level { leaf } }'].entries()) {
      const query = `{ level(nullAt: ${depth}) { ${selection} } }`;
      expect((await ask({ query })).text).toMatch(/"errors"/);
    }
  });

  test.each([
    'set',
    'generated',
    'asyncGenerated',
    'promises',
    'holes',
    'holesOfLists',
    'path',
    'rows { id path }',
  ])('%s, which has an answer', async (selection) => {
    const { text, executed } = await askFourTimes(servePlanned(failing), {
      query: `{ early ${selection} late }`,
    });
    expect(text).toMatch(/^\{"data":\{"early":1,/);
    expect(executed).toEqual(byExecutor);
  });

  test.each([
    ['query ($it: Int = 1) { need(it: $it) }', { it: null }],
    ['query ($it: Int!) { need(it: $it) }', {}],
    ['query ($it: Int!) { need(it: $it) }', { it: '5' }],
    ['query ($it: Int!) { need(it: $it) }', { it: 2 ** 31 }],
    ['query ($it: Int!) { need(it: $it) }', { it: [1] }],
    ['query ($it: In) { give(it: $it) }', { it: { must: null, other: 1 } }],
    ['query ($it: In) { give(it: $it) }', { it: [] }],
    ['query ($it: Int = 1) { give(it: { must: $it }) }', { it: null }],
    ['query ($it: Int = 1) { give(it: { must: 1, list: [$it] }) }', { it: null }],
  ])('%s with %j', async (query, variables) => {
    const ask = servePlanned(failing);
    const good = query.includes('In)') ? { it: { must: 1 } } : { it: 1 };
    expect((await ask({ query, variables: good })).isExecuted).toBe(true);
    expect((await ask({ query, variables: good })).isExecuted).toBe(false);
    const { text, executed } = await askFourTimes(servePlanned(failing), { query, variables });
    expect(text).toMatch(/"errors"/);
    expect(executed).toEqual(byExecutor);
    expect(await ask({ query, variables })).toEqual({ text, isExecuted: true });
    expect((await ask({ query, variables: good })).isExecuted).toBe(false);
  });

  test('nobody waits for what a plan has begun', async () => {
    let uses = 0;
    const ask = serveTypes('type Query { never: Int fails: Int }', {
      Query: {
        // The second call is the plan's: it would be waited for until the test's time is over.
        never: () => (++uses === 2 ? new Promise(() => undefined) : inTurns(1, uses > 0 ? 1 : 0)),
        fails: () => Promise.reject(new Error('fails')),
      },
    });
    const first = await ask({ query: '{ never fails }' });
    expect(await ask({ query: '{ never fails }' })).toEqual(first);
    expect(uses).toBe(3);
  });

  test('a plan whose use failed answers the next', async () => {
    let isAway = false;
    const ask = serveTypes('type Query { one: Int! }', {
      Query: { one: () => inTurns(1, isAway ? new Error('away') : 1) },
    });
    const query = '{ one }';
    await ask({ query });
    isAway = true;
    expect((await ask({ query })).text).toMatch(/away/);
    isAway = false;
    expect(await ask({ query })).toEqual({ text: '{"data":{"one":1}}', isExecuted: false });
  });
});

describe('a field that resolves for all of its parents at once', () => {
  interface Parent {
    readonly id: number;
  }
  /** Parents by the ids that a query names, their `items`, and what their resolvers were told. */
  function serveParents() {
    const calls: (readonly number[])[] = [];
    const alone: number[] = [];
    const schema = createSchema({
      typeDefs:
        'type Query { parents(ids: [Int!]!): [Parent] items(times: Int): [Int] } type Parent { id: Int parent: Parent items(times: Int = 1): [Int] }',
      resolvers: {
        Query: {
          parents: (_root: unknown, { ids }: { ids: number[] }) => ids.map((id) => (id < 0 ? null : { id })),
          items: () => [0],
        },
        Parent: {
          parent: ({ id }: Parent) => (id % 2 === 0 ? null : { id: id + 100 }),
          items: ({ id }: Parent, { times }: { times: number }) => {
            alone.push(id);
            return [id * times];
          },
        },
      },
    });
    const together = new ResolveTogether<Parent, { times: number }, unknown>(async (parents, { times }) => {
      calls.push(parents.map(({ id }) => id));
      return parents.map(({ id }) => [id * times]);
    });
    for (const type of ['Parent', 'Query']) {
      const field = z
        .custom<{ extensions: object }>()
        .parse(Reflect.get(schema.getType(type) ?? {}, 'getFields').call(schema.getType(type)).items);
      field.extensions = { together };
    }
    return { ask: servePlanned(schema), calls, alone };
  }

  test('is told of them in their order, each as often as it stands there', async () => {
    const { ask, calls, alone } = serveParents();
    const query =
      'query ($ids: [Int!]!) { parents(ids: $ids) { items id more: items(times: 3) parent { items } } }';
    const variables = { ids: [3, 1, -1, 3, 2] };
    const first = await ask({ query, variables });
    expect(calls).toEqual([]);
    alone.length = 0;
    expect(await ask({ query, variables })).toEqual({ text: first.text, isExecuted: false });
    expect(calls).toEqual([
      [3, 1, 3, 2],
      [3, 1, 3, 2],
      [103, 101, 103],
    ]);
    expect(alone).toEqual([]);
  });

  test('is not asked when there are none', async () => {
    const { ask, calls } = serveParents();
    const query = 'query ($ids: [Int!]!) { parents(ids: $ids) { items parent { items } } }';
    for (const ids of [[], [], [-1], []]) await ask({ query, variables: { ids } });
    expect(calls).toEqual([]);
    await ask({ query, variables: { ids: [2] } });
    expect(calls).toEqual([[2]]);
  });

  test('resolves by itself at the root, where what guards the root stands in its resolver', async () => {
    const { ask, calls } = serveParents();
    expect((await askFourTimes(ask, { query: '{ items }' })).executed).toEqual(byPlan);
    expect(calls).toEqual([]);
  });
});
