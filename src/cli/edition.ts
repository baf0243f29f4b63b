import type { Additions, Beside } from '@patchclaw/claw/cli';
import { assistantVerbs } from './assistant/assistant-verbs.ts';
import { defineDiscovered } from './discovered-verbs.ts';

const ADDITIONS: Additions = {
  status: async (result, root) =>
    (await import('./assistant/budgets.ts')).withAssistant(result, root),
  changed: async (result, root) =>
    (await import('./assistant/restart-hint.ts')).withRestartHint(result, root),
  doctor: async (context, isOffline) =>
    (await import('./assistant/doctor.ts')).lookAtAll(context, isOffline),
  beforePublish: async (_, place) =>
    (await import('./assistant/update-backup.ts')).saveBeforeUpdate(place),
  undo: async (invocation, since) =>
    (await import('./assistant/import-undo.ts')).undoImport(invocation, since),
  hasModel: async (root) => (await import('./setup/model.ts')).hasModel(root),
  askModel: async (prompt, place) => (await import('./setup/model.ts')).askModel(prompt, place),
  openProofRunner: async (name, parts) =>
    (await import('./assistant/proof-runners.ts')).openProofRunner(name, parts),
  readCode: async () => (await import('./assistant/read-code.ts')).readCode,
};

/** The assistant's part of `claw`. */
export const BESIDE: Beside = {
  description: 'Change code safely with skills, and run the assistant that they change.',
  verbs: assistantVerbs,
  discover: (program, run, args) => defineDiscovered(program, run, { args }),
  additions: ADDITIONS,
};
