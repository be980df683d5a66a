import { describe, expect, it } from 'vitest';
import { mendFileSystem } from '../../src/db/embedded/mend-file-system.ts';

interface Node {
  readonly parent: string;
  readonly name: string;
}

/** The patched part of Emscripten's file system: its tree, its disk and its open files. */
function fileSystem() {
  const tree = new Map<string, Node>();
  const disk = new Set<string>();
  const open = new Set<number>();
  let refuses: 'nothing' | 'mknod' | 'open' = 'nothing';
  const refuse = (what: string) => {
    if (refuses === what) throw new Error('refused');
  };
  const pathOf = (parent: string, name: string) => `${parent}/${name}`;
  const NODEFS = {
    node_ops: {
      mknod: (parent: string, name: string): Node => {
        const node = { parent, name };
        tree.set(pathOf(parent, name), node);
        refuse('mknod');
        disk.add(pathOf(parent, name));
        return node;
      },
      unlink: (parent: string, name: string) => void disk.delete(pathOf(parent, name)),
    },
    stream_ops: { open: (_stream: { node: Node; fd: number }) => refuse('open') },
    convertNodeCode: ({ code }: { code: string }) =>
      new Map([
        ['ENOSPC', 51],
        ['EDQUOT', 19],
        ['EIO', 29],
      ]).get(code),
  };
  const FS = {
    lookupNode: (parent: string, name: string) => {
      const node = tree.get(pathOf(parent, name));
      if (node === undefined) throw new Error('not there');
      return node;
    },
    destroyNode: ({ parent, name }: Node) => void tree.delete(pathOf(parent, name)),
    closeStream: (fd: number) => void open.delete(fd),
  };
  mendFileSystem({ NODEFS, FS });
  return {
    tree,
    disk,
    open,
    convert: NODEFS.convertNodeCode,
    refuse: (what: typeof refuses) => {
      refuses = what;
    },
    make: (name: string) => NODEFS.node_ops.mknod('/', name),
    openStream: (node: Node, fd: number) => {
      open.add(fd);
      NODEFS.stream_ops.open({ node, fd });
    },
  };
}

describe('the patched file system of the engine', () => {
  it('forgets the name of a file that could not be created, and creates it later', () => {
    const { tree, disk, refuse, make } = fileSystem();
    refuse('mknod');
    expect(() => make('file')).toThrow('refused');
    expect(tree.size).toBe(0);
    refuse('nothing');
    make('file');
    expect([tree.size, disk.size]).toEqual([1, 1]);
  });

  it('removes a new file that could not be opened, and frees its stream number', () => {
    const { tree, disk, open, refuse, make, openStream } = fileSystem();
    refuse('open');
    const node = make('file');
    expect(() => openStream(node, 3)).toThrow('refused');
    expect([tree.size, disk.size, open.size]).toEqual([0, 0, 0]);
  });

  it('leaves an existing file in place', () => {
    const { tree, disk, open, refuse, make, openStream } = fileSystem();
    const node = make('file');
    openStream(node, 3);
    refuse('open');
    expect(() => openStream(node, 4)).toThrow('refused');
    expect([tree.size, disk.size]).toEqual([1, 1]);
    expect([...open]).toEqual([3]);
  });

  it('does not treat an unknown system error code as success, and treats an exhausted quota as a full disk', () => {
    const { convert } = fileSystem();
    expect(convert({ code: 'ENOSPC' })).toBe(51);
    expect(convert({ code: 'EDQUOT' })).toBe(51);
    expect(convert({ code: 'Unknown system error -117' })).toBe(29);
  });
});
