import fc from 'fast-check';
import { createSchema } from 'graphql-yoga';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { servePlanned } from './planned-service.ts';

/** What a random service answers with: how often something is wrong, and what all of its values are made from. */
interface World {
  readonly seed: number;
  /** Of a hundred values, those that are wrong, and those that are null. */
  readonly wrong: number;
  readonly nulls: number;
  readonly way: 'at once' | 'late' | 'either';
}

/** A number that hangs on nothing but these. */
function numberOf(seed: number, ...of: readonly string[]): number {
  let hash = seed | 0;
  for (const letter of of.join('\n')) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Resolves after so many microtasks: their order is the same each time. */
async function inMicrotasks<Value>(amount: number, value: Value): Promise<Value> {
  for (let done = 0; done < amount; done++) await null;
  return value;
}

const shapes = {
  id: 'ID!',
  int: 'Int',
  intAlways: 'Int!',
  float: 'Float',
  text: 'String',
  yes: 'Boolean!',
  color: 'Color',
  colors: '[Color!]',
  ints: '[Int]',
  intsAlways: '[Int!]!',
  grid: '[[Int!]]',
  gridAlways: '[[Int!]!]!',
  child: 'Node',
  childAlways: 'Node!',
  children: '[Node]',
  childrenAlways: '[Node!]!',
  rows: '[[Node!]!]',
  needs: 'String!',
  echo: 'String',
} as const;
type Shape = keyof typeof shapes;

/** A value of a type of the schema, wrong or nothing now and then. */
function anyValue(world: World, type: string, key: string): unknown {
  const number = numberOf(world.seed, key);
  const chance = number % 100;
  const must = type.endsWith('!');
  const bare = must ? type.slice(0, -1) : type;
  const isItem = key.endsWith(']');
  if (chance < world.wrong && !(isItem && must)) {
    const wrongs = [null, undefined, new Error(`returned at ${key}`), {}, 'wrong', [[{}]], NaN, new Set([1])];
    return wrongs[number % wrongs.length];
  }
  if (!must && chance < world.wrong + world.nulls) return number % 2 === 0 ? null : undefined;
  if (bare.startsWith('[')) {
    const inner = bare.slice(1, -1);
    return Array.from({ length: number % 4 }, (_, index) => anyValue(world, inner, `${key}[${index % 3}]`));
  }
  if (bare === 'Node') return { key };
  const values: Record<string, unknown> = {
    ID: key,
    Int: number % 1000,
    Float: number / 7,
    String: `${key} "\u2028`,
    Boolean: number % 2 === 0,
    Color: ['RED', 'GREEN', 'BLUE'][number % 3],
  };
  return values[bare];
}

function resolveAny(field: Shape) {
  return (source: { key: string } | undefined, given: object, { world }: { world: World }): unknown => {
    const key = `${source?.key ?? ''}.${field}`;
    const number = numberOf(world.seed, key, 'way');
    const value =
      field === 'echo' || field === 'needs'
        ? JSON.stringify([key, given])
        : anyValue(world, shapes[field], key);
    const isWrong = number % 100 < world.wrong;
    if (world.way === 'at once' || (world.way === 'either' && number % 3 === 0)) {
      if (isWrong) throw new Error(`thrown at ${key}`);
      return value;
    }
    return isWrong
      ? inMicrotasks(number % 7, null).then(() => Promise.reject(new Error(`rejected at ${key}`)))
      : inMicrotasks(number % 7, value);
  };
}

const anyFields = Object.entries(shapes)
  .map(([name, type]) => {
    const given = {
      needs: '(of: Int!, in: In = { x: 9 })',
      echo: '(a: Int = 3, b: In, c: [Int!], d: Color = RED)',
    };
    return `${name}${Reflect.get(given, name) ?? ''}: ${type}`;
  })
  .join(' ');
const anyResolvers = Object.fromEntries(
  Object.keys(shapes).map((name) => [name, resolveAny(z.custom<Shape>().parse(name))]),
);
const anySchema = createSchema({
  typeDefs: `
    enum Color { RED GREEN BLUE }
    input In { x: Int! = 1 y: [Color!] z: In s: String = "d" constructor: [[Int]] }
    type Query { ${anyFields} }
    type Node { ${anyFields} }
  `,
  resolvers: { Query: anyResolvers, Node: anyResolvers },
});

/** Fields as a document asks for them: what is after the alias hangs on the alias, so that all of them can be merged. */
const leaves = [
  'id',
  'int',
  'intAlways',
  'float',
  'text',
  'yes',
  'color',
  'colors',
  'ints',
  'intsAlways',
  'grid',
  'gridAlways',
  '__typename',
  '__proto__: int',
  'constructor: id',
  'toString: text',
  'toJSON: ints',
  'again: id',
  'x: __typename',
  'echo',
  'e1: echo(a: 5, c: 4)',
  'e2: echo(a: $int, c: [$seven])',
  'e3: echo(a: null, d: BLUE, c: [])',
  'e4: echo(b: { x: 5, z: { y: RED } })',
  'e5: echo(b: $in)',
  'e6: echo(b: { y: [$color, GREEN], s: $text, constructor: [[$int]] })',
  'e7: echo(c: $list, d: $color)',
  'e8: echo(b: { x: $seven, z: $in })',
  'needs(of: $seven)',
  'n1: needs(of: 1, in: $in)',
];
const branches = [
  'child',
  'childAlways',
  'children',
  'childrenAlways',
  'rows',
  'hasOwnProperty: child',
  'valueOf: children',
  'more: rows',
];
const definitions: Readonly<Record<string, string>> = {
  int: 'Int',
  seven: 'Int = 7',
  in: 'In = { x: 2, z: { x: 3 } }',
  list: '[Int!]',
  color: 'Color = GREEN',
  text: 'String',
};

/** A selection as text. Fragments with a higher number than this one's may be spread in it. */
const selectionOf = (depth: number, type: 'Query' | 'Node', fragment: number): fc.Arbitrary<string> => {
  const leaf = fc.constantFrom(...leaves);
  const below = () => selectionOf(depth - 1, 'Node', fragment);
  const branch = () =>
    fc.tuple(fc.constantFrom(...branches), below()).map(([name, inner]) => `${name} ${inner}`);
  const here = () => selectionOf(depth - 1, type, fragment);
  const inline = () =>
    fc.tuple(fc.constantFrom('...', `... on ${type}`), here()).map((parts) => parts.join(' '));
  const spread = () =>
    fc.constantFrom(...[0, 1, 2].filter((other) => other > fragment)).map((other) => `...F${other}`);
  const one = fc.oneof(
    { weight: 4, arbitrary: leaf },
    ...(depth > 0
      ? [
          { weight: 3, arbitrary: branch() },
          { weight: 1, arbitrary: inline() },
        ]
      : []),
    ...(type === 'Node' && fragment < 2 ? [{ weight: 1, arbitrary: spread() }] : []),
  );
  return fc.array(one, { minLength: 1, maxLength: 4 }).map((parts) => `{ ${parts.join(' ')} }`);
};

const anyQuery = fc
  .tuple(
    selectionOf(3, 'Query', -1),
    selectionOf(1, 'Node', 0),
    selectionOf(1, 'Node', 1),
    selectionOf(1, 'Node', 2),
  )
  .map(([operation, ...selections]) => {
    const used = new Set<number>();
    const use = (text: string) => {
      for (const [, number] of text.matchAll(/\.\.\.F(\d)/g)) {
        used.add(Number(number));
        use(selections[Number(number)] ?? '');
      }
    };
    use(operation);
    const fragments = [...used].map((number) => `fragment F${number} on Node ${selections[number]}`);
    const body = [operation, ...fragments].join(' ');
    const variables = Object.entries(definitions).filter(([name]) => new RegExp(`\\$${name}\\b`).test(body));
    const declared = variables.map(([name, type]) => `$${name}: ${type}`).join(', ');
    return `query ${declared && `(${declared})`} ${body}`;
  });

const anyInput = fc.letrec((tie) => ({
  in: fc.record(
    {
      x: fc.integer({ min: -5, max: 5 }),
      y: fc.oneof(
        fc.constant('BLUE'),
        fc.array(fc.constantFrom('RED', 'GREEN'), { maxLength: 2 }),
        fc.constant(null),
      ),
      z: fc.option(tie('in'), { depthSize: 'small' }),
      s: fc.option(fc.string()),
      constructor: fc.constantFrom(null, 1, [1, [2, null]], []),
    },
    { requiredKeys: [] },
  ),
})).in;
const wrongInput = fc.constantFrom(null, 'wrong', 1.5, 2 ** 31, [null], { x: 'wrong' }, { x: null });
const goodVariables = {
  int: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  seven: fc.nat(9),
  in: anyInput,
  list: fc.oneof(fc.array(fc.nat(9), { maxLength: 3 }), fc.nat(9)),
  color: fc.constantFrom('RED', 'BLUE'),
  text: fc.option(fc.string()),
};
const anyVariables = Object.fromEntries(
  Object.entries(goodVariables).map(([name, good]) => [
    name,
    fc.oneof({ weight: 30, arbitrary: good }, { weight: 1, arbitrary: wrongInput }),
  ]),
);
const variablesOf = (values: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.record(values, { requiredKeys: [] });
const worldOf = (wrong: number[], way: World['way'][]): fc.Arbitrary<World> =>
  fc.record({
    seed: fc.integer(),
    wrong: fc.constantFrom(...wrong),
    nulls: fc.constantFrom(0, 10, 30),
    way: fc.constantFrom(...way),
  });
/**
 * Where something fails, all is late or nothing: the executor forgets promises of a list whose later item fails at once
 * (fail-late.ts), and this is not a test of that.
 */
const anyUse = fc.oneof(
  fc.record({ variables: variablesOf(goodVariables), world: worldOf([0], ['either']) }),
  fc.record({ variables: variablesOf(anyVariables), world: worldOf([0, 1, 4], ['at once', 'late']) }),
);

const answerBody = z.object({
  errors: z
    .array(z.looseObject({ path: z.array(z.union([z.string(), z.number()])).default([]) }))
    .default([]),
  data: z.unknown().optional(),
});

/**
 * An answer's data, and its errors in no order. Where fields are late only the places are told that errors made null:
 * how many of those below one are told hangs on which comes first.
 */
function tellOf(text: string, { way }: World) {
  const { errors, data } = answerBody.parse(JSON.parse(text));
  const told = errors.map((error) => {
    if (way === 'at once' || data === undefined) return JSON.stringify(error);
    let value: unknown = data;
    const place = error.path.filter((step) => {
      if (typeof value !== 'object' || value === null) return false;
      value = Object.getOwnPropertyDescriptor(value, step)?.value;
      return true;
    });
    return JSON.stringify(place);
  });
  return { data: JSON.stringify(data), told: [...new Set(told)].sort() };
}

test('any query of any data has the answer that the executor gives', async () => {
  const ask = servePlanned(anySchema);
  let byPlan = 0;
  let withErrors = 0;
  let number = 0;
  await fc.assert(
    fc.asyncProperty(anyQuery, anyUse, async (text, { variables, world }) => {
      const query = `${text} # ${number++}`;
      const asked = { query, variables };
      const executed = await ask(asked, { world });
      expect(executed.isExecuted).toBe(true);
      const again = await ask(asked, { world });
      expect(tellOf(again.text, world)).toEqual(tellOf(executed.text, world));
      const hasErrors = executed.text.startsWith('{"errors"');
      if (!hasErrors) expect(again.text).toBe(executed.text);
      if (again.isExecuted) withErrors += 1;
      else byPlan += 1;
      // A set is a list to the executor alone.
      if (world.wrong === 0) expect(again.isExecuted).toBe(hasErrors);
    }),
    { numRuns: 150 },
  );
  // The cases are not all of one kind.
  expect(Math.min(byPlan, withErrors)).toBeGreaterThan(10);
});
