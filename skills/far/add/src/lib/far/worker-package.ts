import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { create } from 'tar';
import { MIN_NODE } from './ssh-first-step.ts';

/** Read by the agent's image; the agent itself comes from home with each container. */
const IMAGE_FILES = ['Dockerfile', 'install.mjs', 'packages.json'];
/** As in npm's own packages. */
const PACKED_AT = new Date('1985-10-26T08:15:00Z');
const BESIDE = 'bounded-json-worker';

const DOCKERFILE = `# The worker in a container. It starts agents beside itself, through its machine's own Docker.
ARG BASE=node:24-slim
FROM \${BASE}
COPY . /opt/patchclaw-worker
ENV PATCHCLAW_WORKER_DIR=/var/lib/patchclaw-worker CLAW_SANDBOX=docker
ENTRYPOINT ["node", "/opt/patchclaw-worker/worker.mjs"]
CMD ["run"]
`;

const COMPOSE = `# Once:  docker compose run --rm worker join CODE --has gpu --slots 2
# Then:  docker compose up --detach
services:
  worker:
    build: .
    restart: unless-stopped
    stop_grace_period: 1m
    volumes:
      # Whoever has this socket is root on the machine: the worker starts the agents' containers with it.
      - /var/run/docker.sock:/var/run/docker.sock
      # The same path on both sides, since Docker mounts the chats' files from there.
      - /var/lib/patchclaw-worker:/var/lib/patchclaw-worker
`;

const STACK = `# A worker on each node of a Docker swarm that has a label. On each of these nodes, with the code of that node:
#   docker build --tag patchclaw-worker .     (or: docker save patchclaw-worker | ssh nas docker load)
#   docker run --rm --volume /var/lib/patchclaw-worker:/var/lib/patchclaw-worker patchclaw-worker join CODE --no-run
# Then on a manager:
#   docker node update --label-add patchclaw.worker=yes nas
#   docker stack deploy --resolve-image never --compose-file stack.yaml patchclaw
version: '3.8'
services:
  worker:
    image: patchclaw-worker
    stop_grace_period: 1m
    read_only: true
    volumes:
      # Whoever has this socket is root on the node: the worker starts the agents' containers with it.
      - /var/run/docker.sock:/var/run/docker.sock
      # The same path on both sides, since Docker mounts the chats' files from there.
      - /var/lib/patchclaw-worker:/var/lib/patchclaw-worker
    deploy:
      # A node has a key of its own. Two workers with one key would both start what the home asks for.
      mode: global
      placement:
        constraints: [node.labels.patchclaw.worker == yes]
      restart_policy:
        condition: any
        delay: 10s
      update_config:
        parallelism: 1
        failure_action: rollback
      resources:
        limits:
          memory: 1g
`;

const README = `# A worker of Patchclaw

This machine runs chats for another one. It needs Node 22 or newer, and Docker, podman or bubblewrap. Get a code at home
with \`npx claw far add <name>\`.

    npx --yes -p "$PWD/patchclaw-worker.tgz" patchclaw-worker join CODE --has gpu --slots 2

To have it run always, install it and let systemd start it:

    npm install --global ./patchclaw-worker.tgz
    patchclaw-worker service

Or as a container: unpack the file, and follow the first lines of \`compose.yaml\`, or of \`stack.yaml\` in a swarm.
`;

/**
 * Writes a package that runs the worker without a checkout: one program, and what the agents' image is built of.
 *
 * @param file the path of the \`.tgz\`
 */
export async function makeWorkerPackage(projectDir: string, file: string): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'claw-worker-package-'));
  try {
    const own = join(dir, 'package');
    mkdirSync(join(own, 'container'), { recursive: true });
    for (const name of IMAGE_FILES) {
      cpSync(join(projectDir, 'container', name), join(own, 'container', name));
    }
    await bundle(projectDir, own);
    const { version } = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8'));
    const manifest = {
      name: 'patchclaw-worker',
      version,
      description: 'Runs chats of a Patchclaw assistant on another machine',
      license: 'MIT',
      type: 'module',
      bin: { 'patchclaw-worker': 'worker.mjs' },
      engines: { node: `>=${MIN_NODE}` },
    };
    const files = {
      'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
      Dockerfile: DOCKERFILE,
      'compose.yaml': COMPOSE,
      'stack.yaml': STACK,
      'README.md': README,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(own, name), text);
    // The same contents are the same file, so nothing is sent twice.
    await create({ cwd: dir, file, gzip: true, portable: true, mtime: PACKED_AT }, ['package']);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Engines are discovered in a tree; here they are named. */
async function bundle(projectDir: string, outdir: string): Promise<void> {
  const { build } = await import('esbuild');
  const engines = join(projectDir, 'src/sandbox/engines');
  const files = readdirSync(engines).filter(
    (name) =>
      name.endsWith('.ts') &&
      !name.endsWith('.test.ts') &&
      /^export const engine\b/m.test(readFileSync(join(engines, name), 'utf8')),
  );
  const contents = [
    `import { runWorkerProgram } from './sandbox/machines/far/worker-program.ts';`,
    ...files.map(
      (name, at) => `import { engine as engine${at} } from './sandbox/engines/${name}';`,
    ),
    `await runWorkerProgram([${files.map((_, at) => `engine${at}`)}], import.meta.dirname, process.env['PATCHCLAW_WORKER_DIR'] ?? null);`,
  ].join('\n');
  const usual: BuildOptions = {
    absWorkingDir: projectDir,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    logLevel: 'error',
    // Optional parts of libraries, and what bundles agents at home.
    external: ['esbuild', 'cpu-features', '*.node'],
    conditions: ['patchclaw-source'],
  };
  // Some libraries are CommonJS and ask for these.
  const banner = [
    '#!/usr/bin/env node',
    "import { createRequire as requireOf } from 'node:module';",
    // Told before anything fails that an older Node does not have.
    `if (Number(process.versions.node.split('.')[0]) < ${Number.parseInt(MIN_NODE, 10)}) {`,
    `  console.error('This needs Node ${MIN_NODE} or newer; here is ' + process.versions.node + '.');`,
    '  process.exit(1);',
    '}',
    'const require = requireOf(import.meta.url);',
    'const [__filename, __dirname] = [import.meta.filename, import.meta.dirname];',
  ].join('\n');
  await build({
    ...usual,
    stdin: { contents, resolveDir: join(projectDir, 'src'), loader: 'ts' },
    outfile: join(outdir, 'worker.mjs'),
    banner: { js: banner },
    plugins: [
      {
        name: 'beside',
        setup(setUp) {
          // A thread of its own is a file of its own; below `node_modules` no Node reads TypeScript.
          setUp.onLoad({ filter: /\/src\/lib\/bounded-json\.ts$/ }, ({ path }) => ({
            contents: readFileSync(path, 'utf8').replace(`./${BESIDE}.ts`, `./${BESIDE}.mjs`),
            loader: 'ts',
          }));
        },
      },
    ],
  });
  await build({
    ...usual,
    entryPoints: [join(projectDir, `src/lib/${BESIDE}.ts`)],
    outfile: join(outdir, `${BESIDE}.mjs`),
  });
}
