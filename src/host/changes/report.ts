import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, parse, posix } from 'node:path';
import { readKeptFile } from '../../lib/kept-packages.ts';
import { databasesFolder } from '../../store/own-databases.ts';
import type { CommandContext, CommandResult, Resumption } from '../contracts/command.ts';
import { answer, readTree, StartedChange } from './change.ts';
import { resumeOperation } from './resume-operation.ts';
import { readWaiting } from './waiting-operation.ts';

type AppliedLayers = Awaited<ReturnType<typeof readTree>>['applied'];

/** Reports, in the process after a restart, the change that the one before began. */
export async function reportChange(
  context: CommandContext,
  data: unknown,
  { rolledBack }: Resumption,
): Promise<string | CommandResult> {
  // Another version may have kept it in another form; the report comes all the same.
  const change = StartedChange.safeParse(data).data ?? null;
  if (rolledBack !== null) {
    const title = change === null ? 'The change' : titleOf(change);
    return `${title} was taken back: the assistant did not come up with it.\n\n${rolledBack}`;
  }
  if (change === null)
    return 'The change has ended: `/skills` and `/status` show what the code is now.';
  const now = await readTree(context);
  // A `claw` that outlived the process which began the change has published it while this one started.
  if (context.runningCode.isOutdated()) return { kind: 'restart', data: change };
  if (now.refusal !== null) return `${titleOf(change)} did not end well. ${now.refusal}`;
  if (now.state === change.state) return await afterInterruption(context, change);
  const names = now.applied.map(({ name }) => name);
  const listed = `Skills in the code: ${names.join(', ') || 'none'}.`;
  switch (change.verb) {
    case 'apply':
      return await appliedText(context, change, now.applied);
    case 'update':
      return `The core is ${now.coreVersion ?? change.args.join(' ')} now${countFiles(change)}. ${listed}`;
    case 'upgrade':
      return `Upgraded to ${versionsOf(change, now.applied)}${countFiles(change)}.`;
    case 'remove':
      return `${change.args.join(', ')} ${isOrAre(change.args)} out${countFiles(change)}. ${listed}${leftText(context, change)}`;
    case 'undo':
      return `The last change is undone${countFiles(change)}. ${listed}`;
    default:
      return `“${[change.verb, ...change.args].join(' ')}” is done${countFiles(change)}. ${listed}`;
  }
}

/** Names what the skills that were taken out left behind: settings in `.env`, and data; empty for none. */
function leftText({ isSet, settings }: CommandContext, change: StartedChange): string {
  const left = change.settings.filter(isSet);
  const data = leftData(settings.dataDir, change.args);
  return [
    left.length > 0
      ? `\n\nStill set in \`.env\`, where no skill reads them now: ${left.join(', ')}.`
      : '',
    data.length > 0
      ? `\n\nKept, for when you add it again: ${data.map((path) => `\`${path}\``).join(', ')}.`
      : '',
  ].join('');
}

/** The folder of what is kept for each chat and goes with it. */
const OF_CHATS = 'of-chats';

/**
 * Returns the data that skills keep under names of their own, as paths that begin with the data folder's name: a
 * folder called as the skill, what it has in the folders of chats (one path, with a star, for all of them), and
 * databases of its contributions, such as `data/databases/channel-telegram.db`.
 */
function leftData(dataDir: string, skills: readonly string[]): readonly string[] {
  const databases = namesIn(databasesFolder(dataDir));
  const names = skills.flatMap((skill) => [
    ...(existsSync(join(dataDir, skill)) ? [skill] : []),
    ...inChats(dataDir, skill).map((name) => join(OF_CHATS, '*', name)),
    ...databases.filter((name) => /^([a-z]+)-(.*)\.db$/.exec(name)?.[2] === skill).map(inDatabases),
  ]);
  return names.map((name) => join(basename(dataDir), name));

  function inDatabases(name: string): string {
    return join(basename(databasesFolder(dataDir)), name);
  }
}

/** Returns the names, as `guard` or `voice.json`, under which a skill keeps data of chats. */
function inChats(dataDir: string, skill: string): readonly string[] {
  const chats = join(dataDir, OF_CHATS);
  const names = namesIn(chats).flatMap((chat) => namesIn(join(chats, chat)));
  return [...new Set(names)].filter((name) => name === skill || parse(name).name === skill);
}

/** Returns nothing for a folder that is not there. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/**
 * The process that began the change died before it was published. Its `claw` may have outlived it: what
 * that publishes has yet to be started. What waits for decisions is taken up again.
 */
async function afterInterruption(
  context: CommandContext,
  change: StartedChange,
): Promise<CommandResult> {
  await untilUnlocked(context);
  const now = await readTree(context);
  if (now.refusal !== null) return answer(`${titleOf(change)} was interrupted. ${now.refusal}`);
  if (now.state !== change.state) return { kind: 'restart', data: change };
  const waiting = await readWaiting(context);
  const said = `${titleOf(change)} was interrupted. Nothing was changed`;
  const isSame = waiting !== null && !('exitCode' in waiting) && waiting.verb === change.verb;
  if (!isSame) return answer(`${said}; say it again.`);
  return await resumeOperation(context, { isFresh: false, note: `${said}.` });
}

const MAX_WAITS = 200;
const LOCKED = 5;

/**
 * Waits until no command holds the lock. Each call waits for two seconds, and finishes work that a kill
 * left.
 */
async function untilUnlocked({ claw, say }: CommandContext): Promise<void> {
  for (let waits = 0; waits < MAX_WAITS; waits += 1) {
    const { exitCode } = await claw(['recover']);
    if (exitCode !== LOCKED) return;
    if (waits === 0) say('A change that was begun before is still under way. Waiting for it.');
  }
}

function titleOf({ verb, args }: StartedChange): string {
  const what = args.join(', ');
  const titles: Readonly<Record<string, string>> = {
    apply: `Adding ${what}`,
    remove: `Removing ${what}`,
    upgrade: `Upgrading ${what || 'the skills'}`,
    update: `The update to ${what}`,
    undo: 'The undo',
  };
  return titles[verb] ?? `“${[verb, ...args].join(' ')}”`;
}

async function appliedText(
  context: CommandContext,
  change: StartedChange,
  now: AppliedLayers,
): Promise<string> {
  const added = now.filter(({ name }) => !change.before.includes(name));
  const shown = added.length > 0 ? added : now.filter(({ name }) => change.args.includes(name));
  const title = shown.map(({ name, version }) => `${name} ${version}`).join(', ');
  const channels = context.channels().filter(({ name }) => shown.some((one) => one.name === name));
  const isConnected = channels.some(({ status }) => status.state === 'connected');
  const missing = change.settings.filter((setting) => !context.isSet(setting));
  const names = shown.length > 0 ? shown : change.args;
  const parts = [`${title || change.args.join(', ')} ${isOrAre(names)} in${countFiles(change)}.`];
  for (const { name, status } of channels) {
    const { state, detail } = status;
    parts.push(`Channel ${name}: ${state}${detail === null ? '' : `, ${detail}`}.`);
  }
  if (isConnected) return parts.join('\n\n');
  if (missing.length > 0) parts.push(`Not set in \`.env\`: ${missing.join(', ')}.`);
  parts.push(await nextSteps(context.projectDir, { added, shown, isLacking: missing.length > 0 }));
  return parts.filter((part) => part !== '').join('\n\n');
}

type NextStepFacts = {
  readonly added: AppliedLayers;
  readonly shown: AppliedLayers;
  readonly isLacking: boolean;
};

/** Returns how to set up what was added: of one skill its own words, of several the commands for it. */
async function nextSteps(
  projectDir: string,
  { added, shown, isLacking }: NextStepFacts,
): Promise<string> {
  const withStep = shown.filter(({ name }) =>
    existsSync(join(projectDir, 'src/setup', `${name}.ts`)),
  );
  const [only] = shown;
  if (shown.length === 1 && only !== undefined) {
    const steps = await setupSteps(projectDir, only.name);
    if (isLacking || withStep.length > 0) return steps.section ?? steps.whole;
    return added.length > 0 ? (steps.section ?? '') : '';
  }
  const commands: string[] = [];
  for (const skill of shown) {
    if (withStep.includes(skill)) commands.push(`- \`npx claw setup ${skill.name}\``);
    else commands.push(...(await namedCommand(projectDir, skill.name)));
  }
  if (commands.length === 0) return '';
  return ['To set them up, in a shell:', commands.join('\n')].join('\n\n');
}

/** Returns the first command that the set-up section of a skill's page names, with where the others stand. */
async function namedCommand(projectDir: string, skill: string): Promise<readonly string[]> {
  const { section } = await setupSteps(projectDir, skill);
  const command = /`npx claw setup [^`]+`/.exec(section ?? '')?.[0];
  return command === undefined ? [] : [`- ${command}, or as skills/${skill}/SKILL.md says`];
}

const MAX_CHARS = 4_000;

/** A skill's `SKILL.md`: its section on setting up (null if it has none), and the whole text. */
type SetupSteps = { readonly section: string | null; readonly whole: string };

/** Returns the set-up steps of a skill's `SKILL.md`; empty if there is no such file. */
export async function setupSteps(projectDir: string, skill: string): Promise<SetupSteps> {
  const page = await readPage(projectDir, skill);
  const text = fromProject(page.replace(/^---\n[\s\S]*?\n---\n/, ''), skill).trim();
  return {
    section: setupSection(text)?.slice(0, MAX_CHARS) ?? null,
    whole: text.slice(0, MAX_CHARS),
  };
}

/** Makes links of the page to other files, and to its own sections, lead from the project's folder: a chat knows no folder of the skill. */
function fromProject(page: string, skill: string): string {
  return page.replace(/\]\((\.\.?\/[^)\s]+|#[^)\s]+)\)/g, (_, target: string) => {
    const path = target.startsWith('#') ? `SKILL.md${target}` : target;
    return `](${posix.join('skills', skill, path)})`;
  });
}

async function readPage(projectDir: string, skill: string): Promise<string> {
  try {
    return await readFile(join(projectDir, 'skills', skill, 'SKILL.md'), 'utf8');
  } catch {
    // Not here: the kept package may have it, and without any the settings are named all the same.
    return readKeptFile(projectDir, skill, 'SKILL.md')?.toString('utf8') ?? '';
  }
}

function setupSection(text: string): string | null {
  const lines = text.split('\n');
  const start = lines.findIndex((line) =>
    /^#{1,6}\s+.*\b(set[- ]?up|set it up|setting up)\b/i.test(line),
  );
  if (start === -1) return null;
  const depth = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 1;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => (/^(#+)\s/.exec(line)?.[1]?.length ?? 99) <= depth);
  return (end === -1 ? rest : rest.slice(0, end)).join('\n').trim();
}

function isOrAre(names: readonly unknown[]): string {
  return names.length === 1 ? 'is' : 'are';
}

function versionsOf({ args }: StartedChange, now: AppliedLayers): string {
  const meant = now.filter(({ name }) => args.length === 0 || args.includes(name));
  return meant.map(({ name, version }) => `${name} ${version}`).join(', ') || 'nothing';
}

function countFiles({ files }: StartedChange): string {
  if (files === null) return '';
  return files === 1 ? ': 1 file changed' : `: ${files} files changed`;
}
