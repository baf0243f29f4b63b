// Lets chats run on other machines while everything between them fails, and counts what came of each turn.
//
//   npm run far-chaos -- --turns 1000 --kills 50 --partitions 50 --seed 1
//
// Needs nats-server, bubblewrap and openssl. As root, the home with its server and each machine have a network namespace,
// with only this script between them, which delays what passes. `--docker` gives the second machine a dockerd of its own.
// With Debian's `faketime`, the machines' clocks are a day before and a day behind the home's. The assistant,
// its supervisor, nats-server, the workers, the agents and dockerd are real processes. The model, the chat's far end and
// the way between the machines (a proxy) are the script's.
import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { visitorsEnvironment } from '../test/story/clone.ts';
import { type ChaosHome, openChaosHome } from './far-chaos/chaos-home.ts';
import {
  descendants,
  dialThrough,
  isAlive,
  type KnownProcess,
  launch,
  type OwnDaemon,
  Service,
  startDaemon,
  unmountBelow,
} from './far-chaos/chaos-processes.ts';
import { type CuttingProxy, type ProxyEnd, startCuttingProxy } from './far-chaos/cutting-proxy.ts';
import { makeNamespace, type Namespace, WAY_ADDRESS } from './far-chaos/namespaces.ts';
import { type ChaosEvent, planChaos } from './far-chaos/plan.ts';
import type { Heard } from './far-chaos/raven-far-end.ts';

const CHATS_PER_MACHINE = 2;
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const CLOCKS = ['+1d', '-1d'];
/** A turn that has no answer after so long is lost: a link is given up after five minutes, and a turn has three attempts. */
const LOST_MS = 1_500_000;
/** The supervisor gives up at five crashes within a minute, as it should. */
const HOST_PAUSE_MS = 20_000;

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '50' },
    kills: { type: 'string', default: '6' },
    partitions: { type: 'string', default: '4' },
    longest: { type: 'string', default: '30' },
    long: { type: 'string', default: '0' },
    delay: { type: 'string', default: '10' },
    minutes: { type: 'string', default: '1440' },
    seed: { type: 'string', default: '1' },
    docker: { type: 'boolean', default: false },
    /** Without namespaces, also as root. */
    together: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
/** Fewer once it is interrupted: what was seen until then is accounted for. */
let turns = Number(values.turns);
const isApart = process.getuid?.() === 0 && !values.together;
const began = performance.now();
const say = (line: string): void =>
  console.log(`${((performance.now() - began) / 1_000).toFixed(1).padStart(7)} s  ${line}`);

const place = mkdtempSync('/tmp/claw-chaos-');
const ends: (() => unknown)[] = [
  () => {
    unmountBelow(place);
    rmSync(place, { recursive: true, force: true });
  },
];
let isRight = false;
try {
  isRight = await run();
} finally {
  if (values.keep) say(`kept: ${place}, and the home in /tmp/claw-story-*`);
  else for (const end of ends.reverse()) await end();
}
process.exit(isRight ? 0 : 1);

type ChaosMachine = {
  readonly name: string;
  readonly dataDir: string;
  readonly worker: Service;
  readonly proxy: CuttingProxy;
  readonly daemon: OwnDaemon | null;
};

/** The server, and the address at which machines reach it through this script. */
type Way = { readonly server: ProxyEnd; readonly address: string };

type Turn = {
  readonly name: string;
  readonly room: string;
  readonly saidAt: number;
  actions: number;
  answers: number;
  hasSeenHome: boolean;
};

async function run(): Promise<boolean> {
  const network = isApart ? namespace('home', 0) : null;
  const address = network === null ? '127.0.0.1' : WAY_ADDRESS;
  const homeNetwork = {
    enter: (command: readonly string[]) => inside(network, command),
    reachable: (url: string) => reachable(url, address),
  };
  const home = await openChaosHome(address, ends, {}, homeNetwork);
  const { clone, tower, assistant, port } = home;
  const way: Way = { address, server: { host: network?.address ?? address, port } };
  // Codes name this port. Machines join through it, and dial a proxy of their own from then on.
  if (network !== null) await forward(way.server, { host: address, port });
  const machines: ChaosMachine[] = [];
  for (const name of ['nas', 'desk']) {
    machines.push(await joinMachine(home, name, machines.length, way));
  }
  ends.push(
    ...machines.map(
      ({ worker }) =>
        () =>
          worker.stop(),
    ),
  );
  say(
    `joined: ${machines.map(({ name, daemon }) => `${name} (${daemon ? 'docker' : 'bubblewrap'})`).join(', ')}`,
  );

  const all = new Map<string, Turn>();
  const strange: string[] = [];
  const lost: string[] = [];
  const waiting = new Map<string, (isAnswered: boolean) => void>();
  let begun = 0;
  tower.onHeard = ({ room, text }: Heard) => {
    const [, word, name = ''] = /^(action|done) (t\d{5})/.exec(text) ?? [];
    const turn = all.get(name);
    if (turn === undefined || turn.room !== room) {
      if (text.startsWith('… ')) return;
      strange.push(`${room}: ${text.slice(0, 300)}`);
      say(`other words in ${room}: ${text.slice(0, 100)}`);
      const asked =
        /could not answer/.test(text) && [...all.values()].findLast((one) => one.room === room);
      if (asked) waiting.get(asked.name)?.(false);
      return;
    }
    if (word === 'action') turn.actions += 1;
    else {
      turn.answers += 1;
      turn.hasSeenHome = text.includes('seen');
      waiting.get(name)?.(true);
    }
  };
  const folders = new Map<string, string>();

  async function ask(room: string): Promise<void> {
    begun += 1;
    const name = `t${String(begun).padStart(5, '0')}`;
    const folder = folders.get(room);
    if (folder !== undefined) {
      const home = join(folder, 'home');
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, `${name}.txt`), `from home ${name}\n`);
    }
    const turn = {
      name,
      room,
      saidAt: performance.now(),
      actions: 0,
      answers: 0,
      hasSeenHome: false,
    };
    all.set(name, turn);
    const answered = new Promise<boolean>((done) => waiting.set(name, done));
    tower.say(room, `please do ${name}`);
    if (!(await Promise.race([answered, delay(LOST_MS, false, { ref: false })]))) {
      lost.push(name);
      say(`${name} in ${room} has no answer`);
    }
    if (performance.now() - turn.saidAt > 30_000) {
      say(`${name} in ${room} took ${Math.round((performance.now() - turn.saidAt) / 1_000)} s`);
    }
  }

  // The first turn of each chat registers it, at home; then it gets its place.
  const rooms = machines.flatMap(({ name }) =>
    Array.from({ length: CHATS_PER_MACHINE }, (_, nth) => ({
      room: `room-${name}-${nth}`,
      machine: name,
    })),
  );
  await Promise.all(rooms.map(({ room }) => ask(room)));
  for (const { room, machine } of rooms) {
    const folder = readdirSync(clone.path('groups')).find((one) => one.includes(room));
    if (folder === undefined) throw new Error(`no folder of ${room}`);
    folders.set(room, join(clone.path('groups'), folder));
    const placed = await clone.claw('chat', `/far ${folder} on ${machine}`);
    if (!placed.stdout.includes('runs on')) throw new Error(placed.stdout);
  }
  say('each chat has its machine');

  const size = {
    turns,
    kills: Number(values.kills),
    partitions: Number(values.partitions),
    machines: machines.length,
    hasDocker: values.docker,
    longestMs: Number(values.longest) * 1_000,
    long: Number(values.long),
  };
  const plan = [...planChaos(Number(values.seed), size)];
  const leftover: string[] = [];
  const checks: Promise<void>[] = [];
  let longestLeftMs = 0;
  let isOver = false;
  const over = new AbortController();
  /** Ends early where the run does. */
  const pause = (ms: number): Promise<void> =>
    delay(ms, undefined, { signal: over.signal }).catch(() => {});
  const stop = (): void => {
    turns = begun;
    isOver = true;
    over.abort();
  };
  /** Containers of a process that was killed must be gone in a minute. */
  function watchLeft(
    label: string,
    processes: readonly KnownProcess[],
    containers: OwnDaemon | null,
  ): void {
    const ids = containers?.containers() ?? [];
    let from = performance.now();
    const left = (): readonly string[] => {
      const there = containers === null ? [] : containers.containers();
      // A minute from when there is a daemon that can remove them.
      if (there === null) from = performance.now();
      return [
        ...processes.filter(isAlive).map(({ pid, command }) => `${pid} ${command}`),
        ...(there ?? ids).filter((id) => ids.includes(id)),
      ];
    };
    const watch = async (): Promise<void> => {
      for (let now = left(); now.length > 0; now = left()) {
        if (performance.now() - from > 60_000)
          return void leftover.push(`${label}: ${now.join('; ')}`);
        await delay(500);
      }
      longestLeftMs = Math.max(longestLeftMs, performance.now() - from);
    };
    checks.push(watch());
  }
  const made = { kills: 0, partitions: 0, longestPartitionMs: 0 };
  let lastHostKill = 0;
  async function make(event: ChaosEvent): Promise<void> {
    await pause(event.delayMs);
    if (isOver) return;
    made[event.kind === 'partition' ? 'partitions' : 'kills'] += 1;
    if (event.kind === 'partition') {
      const { proxy, name } = machines[event.machine] ?? never();
      say(`partition: ${name} ${event.how} for ${event.ms} ms`);
      const from = performance.now();
      proxy.fail(event.how);
      await pause(event.ms);
      made.longestPartitionMs = Math.max(made.longestPartitionMs, performance.now() - from);
      return proxy.heal();
    }
    if (event.kind === 'worker') {
      const { worker, name, daemon } = machines[event.machine] ?? never();
      say(`kill: the worker of ${name}`);
      watchLeft(`after the worker of ${name}`, descendants(worker.pid), daemon);
      return await worker.kill(event.pauseMs);
    }
    if (event.kind === 'dockerd') {
      const daemon = machines.find((one) => one.daemon !== null)?.daemon;
      say('kill: dockerd');
      watchLeft('after dockerd', [], daemon ?? null);
      return await daemon?.service.kill(event.pauseMs);
    }
    if (event.kind === 'server') {
      say('kill: nats-server');
      return killQuietly(Number(readFileSync(clone.path('data/far/nats.pid'), 'utf8')));
    }
    await pause(Math.max(0, lastHostKill + HOST_PAUSE_MS - performance.now()));
    if (isOver) {
      made.kills -= 1;
      return;
    }
    lastHostKill = performance.now();
    const below = descendants(assistant.pid);
    const main = below.find(({ command }) => command.includes('src/main'));
    const own = below.filter(({ command }) => !/nats-server|src\/main/.test(command));
    say(`kill: the ${event.kind}`);
    watchLeft(
      `after the ${event.kind}`,
      own,
      machines.find((one) => one.daemon !== null)?.daemon ?? null,
    );
    if (event.kind === 'power' || main === undefined) await assistant.kill(500, true);
    else killQuietly(main.pid);
  }
  async function chaos(): Promise<void> {
    // What happens to different parts overlaps; kills of one part come one after the other.
    const lanes = new Map<string, Promise<void>>();
    while (plan.length > 0 && !isOver) {
      const next = plan[0];
      if (next === undefined || next.atTurn > begun) {
        await delay(50);
        continue;
      }
      plan.shift();
      const lane =
        next.kind === 'host' || next.kind === 'power' || next.kind === 'server'
          ? 'home'
          : `${next.kind === 'partition' ? 'way' : 'machine'} ${'machine' in next ? next.machine : 1}`;
      const before = lanes.get(lane) ?? Promise.resolve();
      lanes.set(
        lane,
        before.then(() => make(next)),
      );
      // The same turns meet no more than a few of them.
      await delay(300);
    }
    await Promise.all(lanes.values());
  }
  let isStorm = true;
  /** Chats go on until all has happened that was planned. */
  async function chat(room: string): Promise<void> {
    while (begun < turns || (isStorm && !isOver)) await ask(room);
  }
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  setTimeout(stop, Number(values.minutes) * 60_000 - (performance.now() - began)).unref();
  const storm = chaos().then(() => {
    isStorm = false;
  });
  await Promise.all(rooms.map(({ room }) => chat(room)));
  await storm;
  isOver = true;
  say('all turns are over');
  await Promise.all(checks);
  // What is still on a machine comes home when the machine tells of it, and at the latest when its chat ends.
  await delay(10_000);
  await assistant.stop();
  say('the assistant has ended');
  await Promise.all(machines.map(({ worker }) => worker.stop()));
  for (const { daemon, name } of machines) {
    const left = daemon?.containers() ?? [];
    if (left.length > 0) leftover.push(`${name} at the end: ${left.join(', ')}`);
  }

  const wrong = [
    ...lost.map((name) => `${name} was lost`),
    ...[...all.values()].flatMap(({ name, actions, answers }) => [
      ...(answers > 1 ? [`${name} was answered ${answers} times`] : []),
      ...(actions === 1 ? [] : [`${name}: its action was done ${actions} times`]),
    ]),
    ...filesWrong([...all.values()], folders),
    ...leftover.map((one) => `left over ${one}`),
  ];
  const kept = machines.flatMap(({ name, dataDir }) =>
    readdirSync(join(dataDir, 'far-worker/chats')).map((chat) => `${name}: ${chat}`),
  );
  for (const one of [...new Set(strange)].slice(0, 40)) say(`other words: ${one}`);
  say(`chats whose files are still on a machine: ${kept.join(', ') || 'none'}`);
  const unseen = [...all.values()].filter(({ hasSeenHome }) => !hasSeenHome).length;
  say(
    `answers that did not show the home's file (their call was interrupted): ${unseen - rooms.length}`,
  );
  for (const one of wrong) say(`WRONG ${one}`);
  say(
    `${all.size} turns, ${made.kills} kills, ${made.partitions} partitions of up to ` +
      `${Math.round(made.longestPartitionMs / 1_000)} s, seed ${values.seed}: ` +
      `${wrong.length} wrong; containers of killed processes gone after ${Math.round(longestLeftMs)} ms at most`,
  );
  if (wrong.length > 0) {
    writeFileSync(
      '/tmp/far-chaos-last.log',
      [assistant, ...machines.map(({ worker }) => worker)]
        .map(({ name, output }) => `--- ${name}\n${output}`)
        .join('\n'),
    );
  }
  return wrong.length === 0;
}

/** Each turn's line is in the chat's log, or in a version beside it; each file is there once. */
function filesWrong(all: readonly Turn[], folders: ReadonlyMap<string, string>): readonly string[] {
  return all.flatMap(({ name, room }) => {
    const folder = folders.get(room) ?? '';
    const logs = readdirSync(folder).filter((file) => file.startsWith('log.'));
    const lines = logs.flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
    const own = join(folder, 'files', `${name}.txt`);
    const home = join(folder, 'home', `${name}.txt`);
    const isFirst = !existsSync(home) && Number(name.slice(1)) <= folders.size;
    return [
      ...(lines.includes(name) ? [] : [`${name}: its line is not in the log of ${room}`]),
      ...(existsSync(own) && readFileSync(own, 'utf8') === `${name}\n`
        ? []
        : [`${name}: its file is lost`]),
      ...(isFirst || existsSync(home) ? [] : [`${name}: the home's file is lost`]),
    ];
  });
}

async function joinMachine(
  { clone, joinCode }: ChaosHome,
  name: string,
  nth: number,
  way: Way,
): Promise<ChaosMachine> {
  const network = isApart ? namespace(name, nth + 1) : null;
  const dataDir = join(place, name);
  mkdirSync(dataDir, { recursive: true });
  const daemon =
    values.docker && nth === 1
      ? await startDaemon(join(place, 'daemon'), visitorsEnvironment(), (command) =>
          inside(network, command),
        )
      : null;
  if (daemon !== null) ends.push(() => daemon.service.stop());
  const clock = existsSync(FAKETIME)
    ? { LD_PRELOAD: FAKETIME, FAKETIME: CLOCKS[nth] ?? '+0', FAKETIME_DONT_FAKE_MONOTONIC: '1' }
    : null;
  if (clock === null) say(`${name} has the home's clock: faketime is not installed`);
  const env = {
    ...visitorsEnvironment(),
    CLAW_SANDBOX: daemon === null ? 'bubblewrap' : 'docker',
    PATCHCLAW_WORKER_DIR: dataDir,
    ...(daemon === null ? {} : { DOCKER_HOST: `unix://${daemon.socket}` }),
    ...clock,
  };
  const main = clone.path('src/sandbox/machines/far/worker-main.ts');
  const code = await joinCode(name);
  const words = [main, 'join', code, '--no-run', '--slots', '4'];
  for (let tries = 0; ; tries += 1) {
    try {
      const [program = '', ...rest] = inside(network, [clone.nodePath, ...words]);
      // It comes back through this script, which must not wait in one piece.
      await promisify(execFile)(program, rest, { cwd: place, env });
      break;
    } catch (error) {
      // The server comes up after the assistant has greeted.
      if (tries > 20) throw error;
      await delay(1_000);
    }
  }
  const end = { host: way.address, port: 0 };
  const proxy = await startCuttingProxy(way.server, end, Number(values.delay));
  ends.push(() => proxy.close());
  dialThrough(dataDir, proxy.port);
  const worker = new Service(name, () =>
    launch(inside(network, [clone.nodePath, main, 'run']), place, env),
  );
  for (let tries = 0; !worker.output.includes('has joined'); tries += 1) {
    if (tries > 240) throw new Error(`${name} does not join: ${worker.output}`);
    await delay(500);
  }
  return { name, dataDir, worker, proxy, daemon };
}

function namespace(name: string, nth: number): Namespace {
  const made = makeNamespace(name, nth);
  ends.unshift(() => made.close());
  return made;
}

/** Returns the command that runs another one in a namespace, and itself where there is none. */
function inside(network: Namespace | null, command: readonly string[]): readonly string[] {
  return network?.enter(command) ?? command;
}

/** Makes a server of this script's reachable from the home's namespace. */
async function reachable(url: string, address: string): Promise<string> {
  const { hostname, port } = new URL(url);
  if (hostname === address) return url;
  await forward({ host: hostname, port: Number(port) }, { host: address, port: Number(port) });
  return `http://${address}:${port}`;
}

async function forward(target: ProxyEnd, at: ProxyEnd): Promise<void> {
  const { close } = await startCuttingProxy(target, at);
  ends.push(close);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

function never(): never {
  throw new Error('the plan names no such machine');
}
