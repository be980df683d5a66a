import * as z from 'zod';

const functionOf = <Type>() => z.custom<Type>((value) => typeof value === 'function');
const text = z.string().min(1).optional().catch(undefined);

/**
 * Node.js, as far as the store needs it. Built-in modules are asked for at run time, because a bundler for browsers fails
 * at an import of one.
 */
const nodeProcess = z.object({
  platform: z.string(),
  env: z.object({ XDG_STATE_HOME: text, LOCALAPPDATA: text }),
  getBuiltinModule: functionOf<(name: string) => unknown>(),
});
const osModule = z.object({ homedir: functionOf<() => string>() });
const pathModule = z.object({
  join: functionOf<(...parts: readonly string[]) => string>(),
  dirname: functionOf<(path: string) => string>(),
  isAbsolute: functionOf<(path: string) => boolean>(),
});
const fileSystemModule = z.object({
  mkdir: functionOf<(path: string, options: { recursive: true; mode: number }) => Promise<unknown>>(),
  stat: functionOf<(path: string) => Promise<{ size: number; isFile(): boolean }>>(),
  readFile: functionOf<(path: string, encoding: 'utf8') => Promise<string>>(),
  writeFile:
    functionOf<(path: string, text: string, options: { mode: number; flag: 'wx' }) => Promise<void>>(),
  rename: functionOf<(from: string, to: string) => Promise<void>>(),
  rm: functionOf<(path: string, options: { force: true }) => Promise<void>>(),
});

export interface StateFolder {
  readonly folder: string;
  readonly path: z.infer<typeof pathModule>;
  readonly files: z.infer<typeof fileSystemModule>;
}

/** The folder for programs' states of this user, and how to reach it; null outside of Node.js. A user may have none. */
export function findStateFolder(): StateFolder | 'homeless' | null {
  // Deno has the modules too, but asks the user for each permission.
  if ('Deno' in globalThis) return null;
  const found = nodeProcess.safeParse(Reflect.get(globalThis, 'process'));
  if (!found.success) return null;
  const { platform, env, getBuiltinModule } = found.data;
  const files = fileSystemModule.safeParse(getBuiltinModule('node:fs/promises'));
  const path = pathModule.safeParse(getBuiltinModule('node:path'));
  const os = osModule.safeParse(getBuiltinModule('node:os'));
  if (!files.success || !path.success || !os.success) return null;
  const { join, isAbsolute } = path.data;
  const below = (...parts: readonly string[]) => join(os.data.homedir(), ...parts);
  const folders: Readonly<Record<string, () => string>> = {
    win32: () => env.LOCALAPPDATA ?? below('AppData', 'Local'),
    darwin: () => below('Library', 'Application Support'),
  };
  // The XDG specification has relative paths ignored.
  const { XDG_STATE_HOME: xdg } = env;
  const other = () => (xdg !== undefined && isAbsolute(xdg) ? xdg : below('.local', 'state'));
  const folder = findFolder(folders[platform] ?? other);
  // A relative folder would be another one wherever the program is started.
  if (folder === null || !isAbsolute(folder)) return 'homeless';
  return { folder: join(folder, 'latchkey'), path: path.data, files: files.data };
}

function findFolder(find: () => string): string | null {
  try {
    return find();
  } catch {
    // Node.js throws for a user without a home, as in some containers.
    return null;
  }
}
