import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { createAgentsSandbox } from './agents-sandbox.ts';
import type { Channel } from './channels/channel.ts';
import { TERMINAL_JID } from './channels/terminal.ts';
import { readWhatFits } from './config.ts';
import { choicesOf, discoverContributions, withoutOutside } from './contributions.ts';
import { onDamagedDatabase } from './damaged-database.ts';
import { clawReader, clawRunner } from './host/contracts/claw.ts';
import { gitRunner } from './host/contracts/git.ts';
import { DEFAULT_TIMEOUTS } from './host/contracts/options.ts';
import { greetingOf } from './host/greeting.ts';
import { openHost } from './host/host.ts';
import { realTimer } from './host/scheduler/alarm.ts';
import { openLoopback } from './http/loopback.ts';
import { createSignal } from './lib/signal.ts';
import { readStarterSet } from './lib/starter-set.ts';
import { TreeFault } from './lib/tree-fault.ts';
import { openLiveEnvironment } from './live-environment.ts';
import { keysOfProviders } from './model/provider.ts';
import { openParts, unusableParts } from './parts.ts';
import { namesOfAgentTools } from './sandbox/agent-link/tool-names.ts';
import { saverBeforeMigration } from './store/backup/before-migration.ts';
import { fenceWords, readFence } from './store/backup/fence.ts';
import { chosenModel } from './store/chats/folder-choices.ts';
import { databasePath, reasonNotToStart } from './store/database-condition.ts';
import { isOfDatabase, StoreError, unusable } from './store/error.ts';
import { openOwnDatabases } from './store/own-databases.ts';
import { openStore } from './store/store.ts';
import { collectGarbage } from './supervisor/after-start.ts';
import { secretValues, withoutSecrets } from './supervisor/environment.ts';
import { EXIT_DATABASE, EXIT_UNUSABLE } from './supervisor/frames.ts';
import { openLog } from './supervisor/log/log.ts';
import { forgetSmallAllocator } from './supervisor/small-process.ts';
import { connectSupervisor } from './supervisor/supervisor-link.ts';
import {
  cutValuesWarning,
  findWrongOwnSettings,
  findWrongSettings,
  settingsCheck,
  troubleOf,
} from './wrong-settings.ts';

/** Time for running turns to end when the assistant is asked to stop, and time for all of the shutdown. */
const GRACE_MS = 5_500;
const LEAVE_MS = 9_000;
const FAULT_ADVICE =
  'Mend that file or take it out, or take the last change back with `npx claw undo`; `npx claw logs` has the rest.';

const projectDir = resolve(import.meta.dirname, '..');
const said = new Set<string>();
if (process.send === undefined) {
  process.stderr.write('The assistant is started by its supervisor: run `npm start`.\n');
  process.exit(1);
}
forgetSmallAllocator(process.env);
const link = connectSupervisor(process);
const start = await link.started;
const { settings } = readWhatFits(process.env, projectDir);
const logLines = createSignal<string>();
const log = await openLog({
  name: 'assistant',
  dataDir: settings.dataDir,
  level: settings.logLevel,
  isStderrLog: !start.isInteractive && Boolean(process.env['CLAW_LOG_LEVEL']),
  stderr: process.stderr,
  secrets: new Set(secretValues(process.env)),
  now: Date.now,
  onLine: logLines.emit,
});
const fence = readFence(settings.dataDir);
const contributions = await discoverContributions()
  .then((all) => (fence === null ? all : withoutOutside(all)))
  .catch(exitWith);
const ownTools = orExit(() => namesOfAgentTools(projectDir));
const choices = choicesOf(contributions, process.env);
const wrong = [
  ...findWrongSettings(process.env, projectDir),
  ...findWrongOwnSettings(choices, process.env, projectDir),
];
const withSettings = Object.values(contributions).flat();
const wrongOwn = findWrongOwnSettings(withSettings, process.env, projectDir);
const trouble = wrong.length + wrongOwn.length === 0 ? null : troubleOf(wrong, wrongOwn);
const database = databasePath(settings.dataDir);
const ownersChats: string[] = [];
const channels: Channel[] = [];
const endDamaged = onDamagedDatabase({
  path: database,
  channels: () => channels,
  ownersChats: () => ownersChats,
  print: sayOnce,
  newId: randomUUID,
  exit: () => process.exit(EXIT_DATABASE),
});
const beforeMigration = saverBeforeMigration(projectDir, (reason) =>
  log.warn('there is no backup from before this migration', { reason }),
);
const store = orExit(() => {
  const reason = reasonNotToStart({ projectDir, dataDir: settings.dataDir });
  if (reason !== null) throw reason;
  const { messagesShown } = settings;
  return openStore({
    ...{ path: database, now: Date.now(), messagesShown },
    onDamage: endDamaged,
    beforeMigration,
  });
});
ownersChats.push(
  ...orExit(() => store.groups.all().filter(({ isMain }) => isMain)).map(({ jid }) => jid),
);
const sandbox = createAgentsSandbox({
  projectDir,
  settings,
  homeDir: homedir(),
  environment: process.env,
  engines: contributions.engines,
  machines: contributions.machines,
  store,
  log,
  now: Date.now,
  onFileConflict: (folder, text) => host.tell(`In the chat ${folder}: ${text}`),
  onMachineTrouble: (text) => host.tell(text),
  // What an agent may spend, see and reach is what the owner has set, and nothing else.
  obstacle: wrong.length > 0 ? troubleOf(wrong, []) : null,
});
const databases = openOwnDatabases({ dataDir: settings.dataDir, now: Date.now, beforeMigration });
const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const parts = orExit(() =>
  openParts({
    contributions,
    environment: process.env,
    settings,
    projectDir,
    timeZone,
    databases,
    currentEnvironment: openLiveEnvironment(process.env, projectDir),
    chosenFor: (folder) => chosenModel(store.modelChoices, folder),
    ownerConsole: link.ownerConsole ?? null,
    log,
    now: Date.now,
    newId: randomUUID,
    random: Math.random,
  }),
);
channels.push(...parts.channels);
const offParts = unusableParts(parts);
for (const problem of offParts) log.error(problem);
const host = openHost({
  projectDir,
  version: versionOf(projectDir),
  settings,
  store,
  ...parts,
  engines: contributions.engines,
  ownTools,
  databases,
  http: openLoopback({
    dataDir: settings.dataDir,
    origins: settings.pageOrigins,
    setTimer: realTimer,
    now: Date.now,
    log,
  }),
  sandbox,
  claw: clawRunner({
    nodePath: process.execPath,
    clawPath: join(projectDir, 'bin/claw.js'),
    projectDir,
    environment: withoutSecrets(process.env),
    modelKey: keysOfProviders(contributions.providers, process.env),
  }),
  clawReader: clawReader({
    nodePath: process.execPath,
    readerPath: join(projectDir, 'bin/claw-reader.js'),
    projectDir,
    environment: withoutSecrets(process.env),
    idleMs: 60_000,
  }),
  git: gitRunner({ projectDir, environment: withoutSecrets(process.env) }),
  mainChat: { jid: TERMINAL_JID, name: 'Terminal' },
  instance: randomUUID(),
  now: Date.now,
  setTimer: realTimer,
  newId: randomUUID,
  timeZone,
  drawsCodes: start.isInteractive,
  composition: start.composition,
  isSet: (setting) => Boolean(process.env[setting]),
  settingsProblem: settingsCheck(process.env, projectDir, [...choices, ...withSettings]),
  trouble:
    [fence && fenceWords(fence), trouble, cutValuesWarning(projectDir), ...offParts]
      .filter((text) => text !== null)
      .join('\n\n') || null,
  log,
  logLines,
  requestRestart: () => link.send({ kind: 'restart' }),
  timeouts: DEFAULT_TIMEOUTS,
});

link.onComplete(host.complete);
link.onStop(async () => {
  setTimeout(() => process.exit(0), LEAVE_MS);
  await host.stop(GRACE_MS);
  databases.close();
  store.close();
  process.exit(0);
});
// The terminal sends Ctrl-C to the whole group of processes; when to end is the supervisor's word.
process.on('SIGINT', () => {});
// The database of a skill is damaged, and the skill does not handle it: another start would end the same way.
process.on('uncaughtException', exitWith);
// A log whose reader is gone must not end the process in the middle of something.
process.stderr.on('error', () => {});

const isFirstStart = store.meta.get('greeted') === null;
// The first greeting of all waits a moment for the sandbox, to say what runs agents or what to install.
const greeting = await greetingOf({
  settings,
  models: parts.models,
  chosenModel: chosenModel(store.modelChoices, 'main'),
  sandbox: isFirstStart ? sandbox : null,
  starterSet: readStarterSet(projectDir),
  hints: parts.channels.flatMap(({ greetingHint = [] }) => greetingHint),
});
link.send({ kind: 'hello', name: settings.assistantName, greeting });
store.meta.set('greeted', 'yes');
await host.start({ rolledBack: start.rolledBack }).catch((error: unknown) =>
  orExit(() => {
    throw unusable(database, error);
  }),
);
link.send({ kind: 'healthy' });
openSandboxSoon();
collectGarbage();

/**
 * Ends the process with one sentence if the store or a file of the tree cannot be used: the owner has to act, and
 * another start would not help. The log has the stack.
 */
function orExit<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    return exitWith(error);
  }
}

function exitWith(error: unknown): never {
  const isFault = error instanceof TreeFault;
  if (!isFault && !(error instanceof StoreError)) throw error;
  log.info('the assistant cannot start', { stack: error.stack, cause: stackOf(error.cause) });
  sayOnce(
    isFault
      ? `Error: ${error.message}
${FAULT_ADVICE}`
      : error.message,
  );
  process.exit(isOfDatabase(error) ? EXIT_DATABASE : EXIT_UNUSABLE);
}

/** Damage is told where it is found, and by whoever asked. */
function sayOnce(text: string): void {
  if (!said.has(text)) process.stderr.write(`${text}\n`);
  said.add(text);
}

function stackOf(cause: unknown): string | null {
  return cause instanceof Error ? (cause.stack ?? null) : null;
}

function versionOf(folder: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const version = (manifest as Readonly<Record<string, unknown>>)['version'];
  return typeof version === 'string' ? version : 'of unknown version';
}

/** Finding an engine loads heavy modules, so it begins when the owner can already type. */
function openSandboxSoon(): void {
  sandbox.open().then(
    (opened) => {
      if (opened.kind === 'ready')
        log.info('the sandbox is ready', { engine: opened.sandbox.engine });
      else if (opened.needsWord === true) host.tell(opened.advice);
      else if (!isFirstStart && wrong.length === 0)
        link.send({ kind: 'notice', text: opened.advice });
    },
    (error: unknown) => log.error('the sandbox did not open', { error: String(error) }),
  );
}
