import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Catalog, openCatalog } from '../model/catalog/catalog.ts';
import { probeModel } from '../model/completion.ts';
import { type Models, openModels } from '../model/model.ts';
import { type Abilities, discoverProviders } from '../model/provider.ts';
import { type KeptChoice, readModelChoices } from '../store/chats/folder-choices.ts';
import { openKeyTroubles } from '../store/key-troubles.ts';
import { openMeta } from '../store/meta.ts';
import { openReadOnly } from '../store/open-read-only.ts';
import { type Examination, type Finding, ok, problem, type Subject } from './examination.ts';

const TIMEOUT_MS = 20_000;
const ADVICE = '`npx claw setup` sets key and model; until then no agent answers.';
/** Beyond this, certificates and handshakes of channels begin to fail. */
const MAX_DRIFT_MS = 120_000;

/** One real answer of a few tokens: whether address, key and model's name belong together. */
export const examination: Examination = {
  area: 'model',
  order: 20,
  async examine(subject) {
    const { settings, environment, isOffline, now } = subject;
    if (settings === null) return [];
    const models = openModels(await discoverProviders(), environment, { settings, now });
    const catalog = openCatalog({ models, now: Date.now });
    const chosen = [
      ...(await examineChosen(subject, { models, catalog })),
      ...examineRefusedKeys(subject.dataDir),
    ];
    const { configured: model, configuredName: name } = models;
    // Which setting is wrong is said with the settings.
    if (model === null) return [...chosen, ...clock(null, environment['TZ'])];
    const lacks = models.problem();
    if (lacks !== null)
      return [problem('model', lacks, ADVICE), ...chosen, ...clock(null, environment['TZ'])];
    if (isOffline)
      return [ok('model', `${name}, not asked`), ...chosen, ...clock(null, environment['TZ'])];
    const startedAt = performance.now();
    const probe = await probeModel(model, TIMEOUT_MS);
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    const drift = probe.serverTime === null ? null : now() - probe.serverTime;
    const answer = probe.ok
      ? ok('model', `${name} answered in ${seconds} s${lacking(model.abilities)}`)
      : problem('model', probe.message, await adviceOn(catalog, name));
    return [answer, ...chosen, ...clock(drift, environment['TZ'])];
  },
};

async function adviceOn(catalog: Catalog, name: string): Promise<string> {
  const listing = await catalog.look(name);
  return listing.kind === 'missing' ? adviceFor(listing.nearest, ADVICE) : ADVICE;
}

/** Says what a model cannot do; nothing of one that can do all. */
function lacking({ tools, vision }: Abilities): string {
  const lacks = [...(tools ? [] : ['call tools']), ...(vision ? [] : ['see pictures'])];
  return lacks.length === 0 ? '' : `, and cannot ${lacks.join(' or ')}`;
}

/** The time zone, and the clock against that of the model's server, which says it to the second. */
function clock(driftMs: number | null, set: string | undefined): readonly Finding[] {
  // The assistant takes the setting for its own; this process may have begun without it.
  const timeZone = set || Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zone = timeZone
    ? ok('clock', `time zone ${timeZone}`)
    : ok(
        'clock',
        'the time zone is not known; tasks go by UTC',
        'Set TZ in .env, such as TZ=Europe/Berlin.',
      );
  if (driftMs === null) return [zone];
  if (Math.abs(driftMs) <= MAX_DRIFT_MS) {
    return [{ ...zone, message: `${zone.message}, and the clock is right` }];
  }
  const minutes = Math.round(Math.abs(driftMs) / 60_000);
  const way = driftMs > 0 ? 'fast' : 'slow';
  return [
    zone,
    problem(
      'clock',
      `The clock is ${minutes} minutes ${way}, says the model's server.`,
      'Set it (`timedatectl set-ntp true`): with a wrong clock, secure connections and chats fail, and tasks run at the wrong time.',
    ),
  ];
}

/** Looks at the models that the owner has chosen by `/model`: whether they can be asked, and are still there. */
async function examineChosen(
  { dataDir, isOffline }: Subject,
  { models, catalog }: { readonly models: Models; readonly catalog: Catalog },
): Promise<readonly Finding[]> {
  const choices = choicesIn(dataDir);
  return await Promise.all(
    choices.map(async (choice) => {
      const { name, folder } = choice;
      const chats = folder === null ? 'all chats' : `the chat in groups/${folder}`;
      const back = `Say \`/model default${folder === null ? ' for all' : ` for ${folder}`}\`, or name another there.`;
      const found = models.find(name);
      const lacks = found === null ? 'No provider here has it.' : found.server.problem();
      if (lacks !== null) return problem('model', `${chats}: ${name}: ${lacks}`, back);
      if (isOffline) return ok('model', `${chats}: ${name}, not asked`);
      const listing = await catalog.look(name);
      if (listing.kind === 'listed') return ok('model', `${chats}: ${name}`);
      if (listing.kind === 'unknown') return ok('model', `${chats}: ${name} (${listing.problem})`);
      return problem(
        'model',
        `${chats}: ${name} is not in the list of its server`,
        adviceFor(listing.nearest, back),
      );
    }),
  );
}

/** Returns what to take in place of a model that is gone. */
function adviceFor(nearest: string | null, otherwise: string): string {
  return nearest === null ? otherwise : `Its nearest successor there is ${nearest}. ${otherwise}`;
}

function choicesIn(dataDir: string): readonly KeptChoice[] {
  const path = join(dataDir, 'claw.db');
  if (!existsSync(path)) return [];
  try {
    const database = openReadOnly(path);
    try {
      return readModelChoices(database);
    } finally {
      database.close();
    }
  } catch {
    return []; // A database that cannot be read is told in its own area.
  }
}

/** Tells of keys that are refused while other models answer. */
function examineRefusedKeys(dataDir: string): readonly Finding[] {
  const path = join(dataDir, 'claw.db');
  if (!existsSync(path)) return [];
  try {
    const database = openReadOnly(path);
    try {
      return openKeyTroubles(openMeta(database))
        .all()
        .map(({ provider, message }) =>
          problem(
            'model',
            `the key of ${provider} was refused when it was last asked: ${message}`,
            `Set another one: \`npx claw setup --provider ${provider}\`. Other models answer until then.`,
          ),
        );
    } finally {
      database.close();
    }
  } catch {
    return []; // A database that cannot be read is told in its own area.
  }
}
