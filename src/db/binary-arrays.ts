/** Types of PostgreSQL (pg_type.oid), and the length of a value in bytes. */
const types = { uuid: { oid: 2950, length: 16 }, timestamptz: { oid: 1184, length: 8 } } as const;

/** PostgreSQL counts microseconds from 2000-01-01. */
const epoch = Date.UTC(2000, 0, 1);

/**
 * A `uuid[]` in PostgreSQL's binary form, in which node-postgres sends a Buffer. To read uuids as text costs PostgreSQL as
 * much as an index of the security log, which stores thousands of entries a second.
 * @param ids canonical UUIDs, and null for NULL
 */
export const uuidArray = (ids: readonly (string | null)[]): Buffer =>
  binaryArray('uuid', ids, (buffer, id, at) => buffer.write(id.replaceAll('-', ''), at, 'hex'));

/** A `timestamptz[]` in PostgreSQL's binary form. */
export const timestampArray = (times: readonly Date[]): Buffer =>
  binaryArray('timestamptz', times, (buffer, time, at) =>
    buffer.writeBigInt64BE(BigInt(time.getTime() - epoch) * 1000n, at),
  );

/** Number of dimensions, whether there are NULLs, type, length, and the index of the first element: four bytes each. */
const headerLength = 20;

/** The form of array_recv in PostgreSQL's source: a header, then the length and the bytes of each element. */
function binaryArray<Value>(
  type: keyof typeof types,
  values: readonly (Value | null)[],
  write: (buffer: Buffer, value: Value, at: number) => void,
): Buffer {
  const { oid, length } = types[type];
  const nulls = values.reduce((count, value) => (value === null ? count + 1 : count), 0);
  const buffer = Buffer.alloc(headerLength + 4 * values.length + length * (values.length - nulls));
  let at = 0;
  const writeNumber = (number: number): void => {
    at = buffer.writeInt32BE(number, at);
  };
  for (const number of [1, nulls > 0 ? 1 : 0, oid, values.length, 1]) writeNumber(number);
  for (const value of values) {
    writeNumber(value === null ? -1 : length);
    if (value === null) continue;
    write(buffer, value, at);
    at += length;
  }
  return buffer;
}
