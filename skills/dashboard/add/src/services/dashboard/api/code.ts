import { readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppliedData, AvailableData, LogData, StatusData } from '@patchclaw/claw/contract';
import gt from 'semver/functions/gt.js';
import { z } from 'zod';
import {
  choicesAt,
  choicesFor,
  resolveArgs,
} from '../../../host/changes/conflicts/conflict-choices.ts';
import {
  operationName,
  readWaiting,
  type WaitingConflict,
} from '../../../host/changes/waiting-operation.ts';
import { dataBy } from '../../../host/contracts/claw.ts';
import type { ServiceContext } from '../../../host/contracts/service.ts';
import { ApiProblem, defineApi, does, reads } from '../api.ts';
import { matrixOf } from '../matrix.ts';

const Skill = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/);
const Path = z.string().min(1).max(400).regex(/^[^-]/);
const Folder = z
  .string()
  .max(400)
  .regex(/^([\w@+-][\w.@+-]*(\/[\w@+-][\w.@+-]*)*)?$/);
const Ref = z.string().regex(/^[A-Za-z0-9][\w./+-]{0,99}$/);
const Planned = z.union([
  z.object({ verb: z.enum(['apply', 'remove', 'upgrade']), name: Skill }),
  z.object({ verb: z.literal('update'), name: Ref }),
  z.object({ verb: z.enum(['undo', 'upgrade']) }),
]);

/** What the engine knows of the code; the commands that change it are said in the chat. */
export const api = defineApi({
  name: 'code',
  actions: {
    overview: reads(z.object({}), async (_, { context }) => {
      const [offered, listed, status, log] = await Promise.all([
        context.readClaw(['list', '--available']),
        context.readClaw(['list']),
        context.readClaw(['status']),
        context.readClaw(['log']),
      ]);
      return {
        // An engine that knows nothing yet has no state to tell of, which is no problem.
        skills: skillsOf(dataBy(AvailableData, offered) ?? [], dataBy(AppliedData, listed) ?? []),
        status: dataBy(StatusData, status),
        log: (dataBy(LogData, log) ?? []).map(({ time, summary }) => ({ time, summary })),
      };
    }),
    plan: reads(Planned, (planned, { context }) => {
      const name = 'name' in planned ? [planned.name] : [];
      return context.readClaw(['plan', planned.verb, ...name, '--diff']);
    }),
    show: reads(
      z.object({ skill: Skill }),
      async ({ skill }, { context }) => (await told(context, ['show', skill])).data,
    ),
    why: reads(z.object({ path: Path }), async ({ path }, { context }) => {
      const { data } = await told(context, ['why', path]);
      const log = dataBy(LogData, await context.readClaw(['log'])) ?? [];
      const changes = log.filter(({ files }) => files.some((file) => file.path === path));
      return {
        ...z.looseObject({}).parse(data),
        commands: changes.map(({ time, summary }) => ({ time, summary })),
      };
    }),
    files: reads(z.object({ folder: Folder }), ({ folder }, { context }) =>
      filesIn(context, folder),
    ),
    edits: reads(z.object({}), async (_, { context }) => (await told(context, ['diff'])).data),
    conflicts: reads(z.object({}), async (_, { context }) => {
      const waiting = await readWaiting({ claw: () => told(context, ['conflicts']) });
      if (waiting === null || 'exitCode' in waiting) return null;
      const hasModel = context.modelProblem() === null;
      return {
        operation: operationName(waiting),
        conflicts: waiting.conflicts.map((conflict) => withChoices(conflict, hasModel)),
      };
    }),
    // It asks the project's remote, and fetches what is newer.
    release: does('admin', z.object({}), (_, { context }) => context.newestRelease()),
    together: reads(z.object({}), (_, { context }) => matrixOf(context)),
  },
});

type Question = Parameters<ServiceContext['readClaw']>[0];

async function told(context: ServiceContext, args: Question) {
  const result = await context.readClaw(args);
  if (result.error !== null) throw new ApiProblem(result.error.message);
  return result;
}

/** Skills by their names: the version that is in the code, the one that could be, and whether that one is newer. */
function skillsOf(offered: z.output<typeof AvailableData>, applied: z.output<typeof AppliedData>) {
  const versions = new Map(applied.map(({ name, version }) => [name, version]));
  const known = offered.map(({ name, version, description }) => {
    const present = versions.get(name) ?? null;
    const isNewer = present !== null && gt(version, present, { loose: true });
    return {
      name,
      version: present ?? version,
      description,
      applied: present !== null,
      newer: isNewer ? version : null,
    };
  });
  // What was applied from elsewhere is not offered here.
  const others = applied
    .filter(({ name, kind }) => kind === undefined && !offered.some((one) => one.name === name))
    .map(({ name, version }) => ({ name, version, description: '', applied: true, newer: null }));
  return [...known, ...others];
}

/** Adds the choices of the chat, each with the command that makes it. */
function withChoices(conflict: WaitingConflict, hasModel: boolean) {
  const { path, places } = conflict;
  const choices = choicesFor(conflict, hasModel).flatMap(({ word, label, takesText }) => {
    const isOne = takesText === true || resolveArgs(conflict, { word, text: '', isForAll: false });
    return isOne
      ? [{ label, line: `conflicts ${path} ${word}`, takesText: takesText === true }]
      : [];
  });
  return {
    ...conflict,
    choices,
    places: places.map((place, at) => ({
      ...place,
      choices: choicesAt(conflict, at)
        .slice(0, place.ways.length)
        .map(({ label }) => label),
    })),
  };
}

/** Folders that hold no code, or more of others' than anybody looks through. */
const NOT_CODE = ['data', 'groups', 'node_modules'];

/** Lists one folder of the code by names; hidden files and links are left out. */
function filesIn({ groupsDir }: ServiceContext, folder: string) {
  const path = join(dirname(groupsDir), folder);
  if (NOT_CODE.includes(folder.split('/')[0] ?? ''))
    throw new ApiProblem(`${folder} is no code.`, 'no-code');
  if (!isFolder(path) || realpathSync(path) !== join(realpathSync(dirname(groupsDir)), folder)) {
    throw new ApiProblem(`There is no folder ${folder}.`, 'no-folder');
  }
  const entries = readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.') && !(folder === '' && NOT_CODE.includes(name)))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  return {
    folders: entries.filter((one) => one.isDirectory()).map(({ name }) => name),
    files: entries.filter((one) => one.isFile()).map(({ name }) => name),
  };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
