/**
 * Writes an address database with one network, in MaxMind's MMDB format 2.0: a binary tree over the bits of an address, a
 * data section, and metadata. No existing file may be distributed with the tests.
 */
export function mmdbOf(network: string, prefixLength: number, isoCode: string): Buffer {
  const bits = network
    .split('.')
    .map((part) => Number(part).toString(2).padStart(8, '0'))
    .join('')
    .slice(0, prefixLength);
  const nodeCount = prefixLength;
  // Beyond the nodes: "nothing here", then 16 bytes of separator, then the data.
  const nothing = nodeCount;
  const data = nodeCount + 16;
  const tree = Buffer.alloc(nodeCount * 6);
  [...bits].forEach((bit, node) => {
    const next = node === nodeCount - 1 ? data : node + 1;
    tree.writeUIntBE(bit === '0' ? next : nothing, node * 6, 3);
    tree.writeUIntBE(bit === '1' ? next : nothing, node * 6 + 3, 3);
  });
  return Buffer.concat([
    tree,
    Buffer.alloc(16),
    map({ country: map({ iso_code: text(isoCode) }) }),
    Buffer.from('abcdef', 'hex'),
    Buffer.from('MaxMind.com'),
    map({
      node_count: uint(6, 4, nodeCount),
      record_size: uint(5, 2, 24),
      ip_version: uint(5, 2, 4),
      database_type: text('Test-Country'),
      // An array and a 64-bit number: types above 7 take a second byte.
      languages: Buffer.concat([Buffer.from([0x01, 0x04]), text('en')]),
      binary_format_major_version: uint(5, 2, 2),
      binary_format_minor_version: uint(5, 2, 0),
      build_epoch: Buffer.from([0x04, 0x02, 0, 0, 0, 1]),
      description: map({ en: text('one network, for a test') }),
    }),
  ]);
}

const control = (type: number, size: number): Buffer => Buffer.from([(type << 5) | size]);
const text = (value: string): Buffer => Buffer.concat([control(2, value.length), Buffer.from(value)]);

function uint(type: number, size: number, value: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return Buffer.concat([control(type, size), bytes]);
}

const map = (members: Readonly<Record<string, Buffer>>): Buffer =>
  Buffer.concat([
    control(7, Object.keys(members).length),
    ...Object.entries(members).flatMap(([name, value]) => [text(name), value]),
  ]);
