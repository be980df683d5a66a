import { encodeBase64Url } from '../../protocol/base64.ts';
import { randomBytes } from '../../protocol/bytes.ts';
import { type ClientStore, maxTextLength } from './client-store.ts';
import type { StateFolder } from './state-folder.ts';

/** Keeps each text in a file, in a folder for each application, readable only by the user. */
export function createFileStore({ folder, path, files }: StateFolder): ClientStore {
  const fileOf = (name: string) => path.join(folder, ...name.split('/'));
  return {
    async read(name) {
      const file = fileOf(name);
      // Reading a pipe or a device would not end.
      const { size, isFile } = await describe(file);
      return isFile && size <= maxTextLength ? files.readFile(file, 'utf8') : null;
    },
    async write(name, text) {
      const file = fileOf(name);
      const temporary = `${file}.${encodeBase64Url(randomBytes(9))}.tmp`;
      await files.mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      try {
        await files.writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
        await files.rename(temporary, file);
      } finally {
        await files.rm(temporary, { force: true });
      }
    },
  };

  async function describe(file: string) {
    const found = await files.stat(file);
    return { size: found.size, isFile: found.isFile() };
  }
}
