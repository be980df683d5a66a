/** A page in Prometheus's text format (version 0.0.4), parsed as strictly as by a scraper. */
export interface Page {
  /** The type of each family. */
  readonly types: ReadonlyMap<string, string>;
  /** Every line, by its name and labels as written. */
  readonly samples: ReadonlyMap<string, number>;
  /** The value of a line; 0 if there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number;
}

const metaLine = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/;
const sampleLine = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const labelPair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;

/** @throws {Error} naming the invalid line */
export function parsePage(text: string): Page {
  const types = new Map<string, string>();
  const samples = new Map<string, number>();
  if (!text.endsWith('\n')) throw new Error('The page does not end with a line feed');
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, keyword, family, rest] = metaLine.exec(line) ?? [];
    if (keyword === 'TYPE' && family !== undefined && rest !== undefined) {
      if (types.has(family)) throw new Error(`${family} has two types`);
      types.set(family, rest);
    }
    if (keyword !== undefined) continue;
    const [, name, labels = '', value] = sampleLine.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error(`This is no line of a page: ${line}`);
    const key = keyOf(name, readLabels(labels, line));
    if (samples.has(key)) throw new Error(`${key} is there twice`);
    const number =
      { '+Inf': Infinity, '-Inf': -Infinity, Nan: Number.NaN, NaN: Number.NaN }[value] ?? Number(value);
    if (Number.isNaN(number) && !/^nan$/i.test(value)) throw new Error(`This is no number: ${line}`);
    samples.set(key, number);
  }
  return { types, samples, value: (name, labels = {}) => samples.get(keyOf(name, labels)) ?? 0 };
}

function readLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  labelPair.lastIndex = 0;
  while (labelPair.lastIndex < text.length) {
    const [, name, value] = labelPair.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new Error(`These are no labels: ${line}`);
    labels[name] = value;
  }
  return labels;
}

const keyOf = (name: string, labels: Readonly<Record<string, string>>): string =>
  `${name} ${JSON.stringify(Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1)))}`;
