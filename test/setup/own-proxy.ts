import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../ephemeral/support.ts';
import { PrivateCa } from './private-ca.ts';
import { proxyEnv } from './proxy-programs.ts';
import { adaptShipped, type Replacement } from './shipped-file.ts';

/** What a shipped proxy configuration leads to. */
export interface Behind {
  /** The ports of the three instances. */
  readonly instances: readonly [number, number, number];
  /** The ports of the PostgreSQL pair. By default nothing listens there. */
  readonly postgresql?: readonly [number, number];
}

/** The test's own HAProxy or nginx with the configuration that `deploy` ships, except for addresses and paths. */
export interface OwnProxy {
  /** Without TLS, for clients that trust no private CA. */
  readonly url: string;
  readonly tlsPort: number;
  /** The file of the CA that issued its certificate. */
  readonly ca: string;
  /** The port that leads to the primary of the PostgreSQL pair. HAProxy only. */
  readonly postgresqlPort: number;
  /** A shell command that connects to HAProxy's admin socket. */
  readonly adminCommand: string;
  /** What it has printed. */
  output(): string;
  remove(): Promise<void>;
}

const host = 'licenses.example.com';

/** The file of a shipped configuration, as HAProxy or nginx reads it, and the command that does. */
interface Prepared {
  readonly program: string;
  readonly words: readonly string[];
}

async function prepare(kind: 'HAProxy' | 'nginx', behind: Behind, directory: string, ca: PrivateCa) {
  const [plain, redirected, tlsPort, postgresqlPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const { certificate, key } = ca.issue(`DNS:${host},DNS:localhost`);
  const instances = behind.instances.map(
    (port, index): Replacement => [`192.0.2.${11 + index}:4000`, `127.0.0.1:${port}`],
  );
  const file = join(directory, 'proxy.conf');
  const ports = { plain, tlsPort, postgresqlPort };
  if (kind === 'HAProxy') {
    const pem = join(directory, 'certificate.pem');
    writeFileSync(pem, readFileSync(certificate, 'utf8') + readFileSync(key, 'utf8'));
    const pair = behind.postgresql ?? [await freePort(), await freePort()];
    const text = adaptShipped('haproxy/haproxy.cfg', [
      ['log /dev/log local0', 'log stderr format raw daemon notice'],
      ['    chroot /var/lib/haproxy\n    user haproxy\n    group haproxy\n', ''],
      ['maxconn 20000', 'maxconn 500'],
      ['/run/haproxy/admin.sock', join(directory, 'admin.sock')],
      ['bind :80', `bind 127.0.0.1:${redirected}`],
      ['bind :443 ssl', `bind 127.0.0.1:${plain}\n    bind 127.0.0.1:${tlsPort} ssl`],
      ['/etc/haproxy/licenses.example.com.pem', pem],
      // The test's clients have no TLS.
      ['unless { ssl_fc }', `if { dst_port ${redirected} }`],
      ['bind 127.0.0.1:5433', `bind 127.0.0.1:${postgresqlPort}`],
      ...instances,
      ...pair.map((port, index): Replacement => [`192.0.2.${11 + index}:5432`, `127.0.0.1:${port}`]),
    ]);
    writeFileSync(file, text);
    return { program: 'haproxy', words: ['-f', file], ...ports };
  }
  const text = adaptShipped('nginx/three-instances.conf', [
    ['    listen [::]:80;\n', ''],
    ['    listen [::]:443 ssl http2;\n', ''],
    ['listen 80;', `listen 127.0.0.1:${redirected};`],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${plain};\n    listen 127.0.0.1:${tlsPort} ssl http2;`],
    ['/etc/letsencrypt/live/licenses.example.com/fullchain.pem', certificate],
    ['/etc/letsencrypt/live/licenses.example.com/privkey.pem', key],
    ...instances,
  ]);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const whole = `daemon off;
pid ${directory}/nginx.pid;
error_log stderr warn;
worker_processes 2;
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join('\n  ')}
  ${text}
}
`;
  writeFileSync(file, whole);
  return { program: 'nginx', words: ['-c', file, '-p', directory], ...ports };
}

/** Checks a shipped configuration with the proxy's own check, and returns what it says. */
export async function checkShippedProxy(kind: 'HAProxy' | 'nginx'): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-own-proxy-'));
  const ca = new PrivateCa();
  try {
    const { program, words } = await prepare(kind, { instances: [4001, 4002, 4003] }, directory, ca);
    const check = kind === 'HAProxy' ? '-c' : '-t';
    const { child, output } = start({ program, words: [check, ...words] });
    const [code] = await once(child, 'exit');
    return `${code}\n${output()}`;
  } finally {
    ca.remove();
    rmSync(directory, { recursive: true, force: true });
  }
}

function start({ program, words }: Prepared) {
  const child = spawn(program, words, { env: proxyEnv, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  }
  return { child, output: () => output };
}

/** Starts a proxy with its shipped configuration in front of three instances. */
export async function startOwnProxy(kind: 'HAProxy' | 'nginx', behind: Behind): Promise<OwnProxy> {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-own-proxy-'));
  // The workers of nginx run as another user.
  chmodSync(directory, 0o755);
  const ca = new PrivateCa();
  const { plain, tlsPort, postgresqlPort, ...command } = await prepare(kind, behind, directory, ca);
  const { child, output } = start(command);
  const deadline = performance.now() + 20_000;
  while (!(await listens(plain))) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error(`${kind}: ${output()}`);
    await sleep(20);
  }
  const socket = JSON.stringify(join(directory, 'admin.sock'));
  const relay = `s=net.connect(${socket});process.stdin.pipe(s).pipe(process.stdout)`;
  return {
    url: `http://127.0.0.1:${plain}`,
    tlsPort,
    ca: ca.certificate,
    postgresqlPort,
    adminCommand: `'${process.execPath}' -e '${relay}'`,
    output,
    remove: async () => {
      await end(child, kind === 'nginx' ? 'SIGTERM' : 'SIGKILL');
      ca.remove();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** The workers of nginx end with their master only if it can tell them. */
async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}
