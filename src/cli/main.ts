import { readFileSync } from 'node:fs';
import type { Additions } from './additions.ts';
import { assistantVerbs } from './assistant/assistant-verbs.ts';
import { runCommandLine } from './command-line.ts';
import { defineDiscovered } from './discovered-verbs.ts';
import type { Edition } from './edition.ts';
import { engineVerbs } from './engine/engine-verbs.ts';
import { mergeVerbs } from './merge/merge-verbs.ts';

/** Runs one verb of the engine or the assistant. @returns the exit code */
export async function main(args: readonly string[]): Promise<number> {
  return await runCommandLine(args, { ...EDITION, version: ownVersion() });
}

const ADDITIONS: Additions = {
  status: async (result, root) =>
    (await import('./assistant/budgets.ts')).withAssistant(result, root),
  changed: async (result, root) =>
    (await import('./assistant/restart-hint.ts')).withRestartHint(result, root),
  doctor: async (context, isOffline) =>
    (await import('./assistant/doctor.ts')).lookAtAll(context, isOffline),
  hasModel: async (root) => (await import('./setup/model.ts')).hasModel(root),
  askModel: async (prompt, place) => (await import('./setup/model.ts')).askModel(prompt, place),
  readCode: async () => (await import('./assistant/read-code.ts')).readCode,
};

const EDITION: Omit<Edition, 'version'> = {
  description: 'Skills that change the code, safely; and the assistant they change.',
  verbs: { ...engineVerbs, ...mergeVerbs, ...assistantVerbs },
  discover: (program, run, args) => defineDiscovered(program, run, { args }),
  additions: ADDITIONS,
};

function ownVersion(): string {
  const path = new URL('../../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string };
  return version;
}
