// Deploys the workers of the skill `far` on a Docker swarm of three machines, and looks what chats notice of it.
//
//   npm run swarm-trial
//
// Needs root, Docker, nats-server, openssl, bubblewrap, and the base image in the Docker daemon here. Each machine is a set
// of namespaces with a dockerd of its own. Only the model and the far end of the chats are the script's. All processes
// end with the script, however it ends.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type ChaosHome, openChaosHome } from './far-chaos/chaos-home.ts';
import { AskedTurns } from './swarm-trial/asked-turns.ts';
import { HOME_ADDRESS, Lan, SwarmNode } from './swarm-trial/swarm-node.ts';

const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
const BASES = ['patchclaw-base:bookworm', 'node:24-slim'];
const PATIENCE_MINUTES = 1;

const began = performance.now();
const say = (line: string): void =>
  console.log(`${((performance.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${line}`);
const wrong: string[] = [];
function check(what: string, isRight: boolean): void {
  say(`${isRight ? 'seen' : 'WRONG'}: ${what}`);
  if (!isRight) wrong.push(what);
}

const place = mkdtempSync('/tmp/claw-swarm-');
const ends: (() => unknown)[] = [() => rmSync(place, { recursive: true, force: true })];
try {
  await run();
} finally {
  if (values.keep) {
    say(`kept until Ctrl-C: ${place}`);
    await new Promise((done) => process.once('SIGINT', done));
  }
  for (const end of ends.reverse()) await end();
}
say(`${wrong.length} wrong`);
process.exit(wrong.length === 0 ? 0 : 1);

async function run(): Promise<void> {
  const lan = await Lan.open();
  ends.push(() => lan.close());
  const home = await openChaosHome(HOME_ADDRESS, ends, {
    FAR_PATIENCE_MINUTES: String(PATIENCE_MINUTES),
  });
  const turns = new AskedTurns(home.tower, say);
  const [manager, nas, desk] = [
    new SwarmNode(lan, place, 'manager', 10),
    new SwarmNode(lan, place, 'nas', 11),
    new SwarmNode(lan, place, 'desk', 12),
  ];
  const workers = [nas, desk];
  for (const node of [manager, ...workers]) {
    ends.push(async () => {
      await node.powerOff();
      await removeCgroup(node);
    });
  }
  await Promise.all([manager, ...workers].map((node) => node.powerOn()));
  say('three daemons answer');

  const packed = await unpackWorker(home);
  bringImages(nas, desk, packed);
  say('both workers have the image');

  manager.docker('swarm', 'init', '--advertise-addr', manager.address);
  const token = manager.docker('swarm', 'join-token', '--quiet', 'worker');
  for (const { docker, address } of bound(workers)) {
    docker(
      'swarm',
      'join',
      '--token',
      token,
      '--advertise-addr',
      address,
      `${manager.address}:2377`,
    );
  }
  for (const { name, docker } of bound(workers)) {
    const code = await home.joinCode(name);
    const data = '/var/lib/patchclaw-worker:/var/lib/patchclaw-worker';
    const words = ['join', code, '--no-run', '--has', 'shelf', '--slots', '4'];
    docker('run', '--rm', '--volume', data, 'patchclaw-worker', ...words);
    manager.docker('node', 'update', '--label-add', 'patchclaw.worker=yes', name);
  }
  const stack = join(packed, 'stack.yaml');
  manager.docker('stack', 'deploy', '--resolve-image', 'never', '-c', stack, 'patchclaw');
  await until('both workers are here', async () => {
    const list = await farList(home);
    return workers.every(({ name }) => list.includes(`${name}**: here`));
  });
  const ports = workers.flatMap((node) => listening(node));
  check(`no worker listens (${ports.join(', ') || 'nothing'})`, ports.length === 0);

  // The first turn of each chat registers it, at home; then it gets its place.
  const rooms = ['room-nas', 'room-desk', 'room-any'];
  await Promise.all(rooms.map((room) => turns.ask(room).answered));
  const folder = (room: string): string => {
    const found = readdirSync(home.clone.path('groups')).find((one) => one.includes(room));
    if (found === undefined) throw new Error(`no folder of ${room}`);
    return found;
  };
  for (const [room, where] of [
    ['room-nas', 'on nas'],
    ['room-desk', 'on desk'],
    ['room-any', 'needs shelf'],
  ] as const) {
    const placed = await home.clone.claw('chat', `/far ${folder(room)} ${where}`);
    if (!placed.stdout.includes('runs')) throw new Error(placed.stdout);
  }
  for (let round = 0; round < 3; round += 1) {
    await Promise.all(rooms.map((room) => turns.ask(room).answered));
  }
  const placeOf = (room: string): string =>
    workers.find((node) => agents(node, folder(room)).length > 0)?.name ?? 'home';
  check(`room-nas runs on ${placeOf('room-nas')}`, placeOf('room-nas') === 'nas');
  check(`room-desk runs on ${placeOf('room-desk')}`, placeOf('room-desk') === 'desk');
  const first = placeOf('room-any');
  check(`room-any runs on ${first}`, first !== 'home');

  // A power cut of the node on which a chat is in the middle of its turn.
  const victim = workers.find(({ name }) => name === first) ?? nas;
  const other = victim === nas ? desk : nas;
  const moved = turns.ask('room-any');
  await moved.acted;
  await victim.powerOff();
  say(`power cut: ${victim.name}, in the middle of a turn`);
  const cutAt = performance.now();
  await moved.answered;
  const tookS = Math.round((performance.now() - cutAt) / 1_000);
  check(
    `the turn was answered after ${tookS} s, by ${placeOf('room-any')}`,
    placeOf('room-any') === other.name,
  );
  await until(`the swarm says that ${victim.name} is down`, async () =>
    new RegExp(`${victim.name}\\s+Down`).test(
      manager.docker('node', 'ls', '--format', '{{.Hostname}} {{.Status}}'),
    ),
  );
  await turns.ask(`room-${victim.name}`).answered;
  check(`meanwhile room-${victim.name} runs at ${placeOf(`room-${victim.name}`)}`, true);

  await victim.powerOn();
  say(`${victim.name} has power again`);
  await until(`${victim.name} is here again, by the swarm alone`, async () =>
    (await farList(home)).includes(`${victim.name}**: here`),
  );
  await turns.ask(`room-${victim.name}`).answered;
  await until(`room-${victim.name} runs there again`, async () => {
    await turns.ask(`room-${victim.name}`).answered;
    return placeOf(`room-${victim.name}`) === victim.name;
  });

  // The cable, for less than the patience of a link.
  const cut = turns.ask(`room-${other.name}`);
  await cut.acted;
  lan.setCable(other.name, false);
  await delay(20_000);
  lan.setCable(other.name, true);
  await cut.answered;
  check(`a cable that was out for 20 s delayed a turn of room-${other.name}`, true);

  // An upgrade of the service, one node after the other, while all chats work.
  const during = rooms.map((room) => turns.ask(room));
  await Promise.all(during.map(({ acted }) => acted));
  // Detached: the model and the far end of the chats are this process.
  manager.docker('service', 'update', '--force', '--detach', 'patchclaw_worker');
  await Promise.all(during.map(({ answered }) => answered));
  await until('both workers are here after an upgrade of the service', async () => {
    const list = await farList(home);
    const state = '{{if .UpdateStatus}}{{.UpdateStatus.State}}{{end}}';
    const update = manager.docker('service', 'inspect', '--format', state, 'patchclaw_worker');
    return update === 'completed' && workers.every(({ name }) => list.includes(`${name}**: here`));
  });

  // A node that is drained in the swarm loses its worker at once.
  const drained = turns.ask('room-desk');
  await drained.acted;
  manager.docker('node', 'update', '--availability', 'drain', 'desk');
  await drained.answered;
  await until('a drained node has no containers', async () => agents(desk).length === 0);
  manager.docker('node', 'update', '--availability', 'active', 'desk');
  await until('desk is here again', async () => (await farList(home)).includes('desk**: here'));
  await turns.ask('room-desk').answered;

  manager.docker('stack', 'rm', 'patchclaw');
  await until('nothing is left running after `docker stack rm`', async () =>
    workers.every((node) => node.docker('ps', '--quiet') === ''),
  );
  await turns.ask('room-nas').answered;
  check(`then room-nas runs at ${placeOf('room-nas')}`, placeOf('room-nas') === 'home');
  await home.assistant.stop();
  for (const one of turns.wrong((room) => home.clone.path(`groups/${folder(room)}`))) {
    check(one, false);
  }
  say(`${turns.count} turns`);
}

/** Writes the package as an owner does, and unpacks it. */
async function unpackWorker({ clone }: ChaosHome): Promise<string> {
  const [file, dir] = [join(place, 'patchclaw-worker.tgz'), join(place, 'package')];
  const { json } = await clone.claw('far', 'pack', file);
  if (json.error !== null) throw new Error(JSON.stringify(json.error));
  mkdirSync(dir);
  execFileSync('tar', ['-xzf', file, '-C', dir, '--strip-components=1']);
  return dir;
}

/** Builds the worker's image on one node, and copies it to the other, as without a registry. */
function bringImages(one: SwarmNode, other: SwarmNode, packed: string): void {
  const here = execFileSync('docker', ['images', '--format', '{{.Repository}}:{{.Tag}}'], {
    encoding: 'utf8',
  }).split('\n');
  const base = BASES.find((name) => here.includes(name));
  if (base === undefined)
    throw new Error('make the base image first: npx node scripts/base-image.ts');
  const bash = (line: string): void =>
    void execFileSync('bash', ['-c', `set -o pipefail; ${line}`], { stdio: 'pipe' });
  bash(`docker save ${base} | docker -H ${one.socket} load`);
  bash(
    `docker -H ${one.socket} build --quiet --build-arg BASE=${base} --tag patchclaw-worker ${packed}`,
  );
  bash(`docker -H ${one.socket} save patchclaw-worker ${base} | docker -H ${other.socket} load`);
}

async function farList({ clone }: ChaosHome): Promise<string> {
  return (await clone.claw('far', 'list')).stdout;
}

function agents(node: SwarmNode, folder: string | null = null): readonly string[] {
  const label = folder === null ? 'patchclaw.group' : `patchclaw.group=${folder}`;
  try {
    return node.docker('ps', '--quiet', '--filter', `label=${label}`).split('\n').filter(Boolean);
  } catch {
    // It has no power.
    return [];
  }
}

/** Ports on which the worker's container listens for others; Docker's own name server is on loopback there. */
function listening(node: SwarmNode): readonly string[] {
  const id = node.docker('ps', '--quiet', '--filter', 'label=com.docker.stack.namespace=patchclaw');
  const table = node.docker('exec', id, 'cat', '/proc/net/tcp', '/proc/net/tcp6');
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state] = line.trim().split(/\s+/);
    return state === '0A' && !local.startsWith('0B00007F') ? [`${node.name} ${local}`] : [];
  });
}

/** Methods that are handed on without their object. */
function bound(nodes: readonly SwarmNode[]) {
  return nodes.map((node) => ({
    name: node.name,
    address: node.address,
    docker: (...words: readonly string[]) => node.docker(...words),
  }));
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const from = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - from > 300_000) throw new Error(`not within 5 min: ${what}`);
    await delay(1_000);
  }
  check(`${what}, after ${Math.round((performance.now() - from) / 1_000)} s`, true);
}

/** A control group outlives processes that lose their power. */
async function removeCgroup({ cgroup }: SwarmNode): Promise<void> {
  for (const controller of readdirSync('/sys/fs/cgroup')) {
    const dir = join('/sys/fs/cgroup', controller, cgroup);
    if (!existsSync(dir)) continue;
    execFileSync('find', [dir, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'], {
      stdio: 'ignore',
    });
  }
}
