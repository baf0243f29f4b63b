import { existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { isWeaker } from '../sandbox/engines/engine.ts';
import { examineSandbox, type SandboxLook } from '../sandbox/examine.ts';
import { type EngineState, openEngines } from '../store/engines.ts';
import { openMeta } from '../store/meta.ts';
import { openReadOnly } from '../store/open-read-only.ts';
import { isRunning } from '../supervisor/instance-lock.ts';
import { type Examination, type Finding, ok, problem, type Subject } from './examination.ts';
import { freeBytes, LEAST_FREE, sizeText } from './size.ts';

const AREA = 'containers';

/** Checks the container engine, its image, and containers left by an assistant that was killed. */
export const examination: Examination = {
  area: AREA,
  order: 30,
  async examine(subject) {
    const { projectDir, settings, homeDir, environment } = subject;
    if (settings === null) return [];
    const look = await examineSandbox({
      projectDir,
      settings,
      homeDir,
      environment,
    });
    const known = enginesIn(subject);
    const now = isRunning(subject.dataDir) ? known.state : null;
    const engine =
      now === null ? engineFinding(look, settings.sandbox, known.least) : runningFinding(now, look);
    return [engine, ...imageFinding(look), ...leftovers(look, subject), ...room(look)];
  },
};

const INSTALL =
  'Install Docker (Debian: `sudo apt install docker.io`; macOS: Docker Desktop) or bubblewrap.';

/** Reads the engine's state from the assistant's database; nulls without a database. */
function enginesIn({ dataDir }: Subject): {
  readonly state: EngineState | null;
  readonly least: SandboxLook['chosen'];
} {
  const path = join(dataDir, 'claw.db');
  if (!existsSync(path)) return { state: null, least: null };
  try {
    const database = openReadOnly(path);
    try {
      const engines = openEngines(openMeta(database));
      return { state: engines.state(), least: engines.least() };
    } finally {
      database.close();
    }
  } catch {
    return { state: null, least: null }; // A database that cannot be read is a finding of its own.
  }
}

/** Tells which engine runs agents now; after a restart it may be another. */
function runningFinding(now: EngineState, look: SandboxLook): Finding {
  const { chosen, description, refused, engines } = look;
  if (now.kind === 'unavailable') return problem(AREA, 'Agents do not run.', now.advice);
  const message = `agents run in ${now.description}`;
  if (now.engine === chosen) {
    return ok(AREA, message, better(look));
  }
  if (isWeaker(engines, now.engine, chosen)) {
    return ok(AREA, message, `${description} answers now; \`/restart\` lets them run there.`);
  }
  const reason = refused.find(({ name }) => name === now.engine)?.reason ?? 'it does not answer.';
  return problem(AREA, `Agents run in ${now.engine}, and ${reason}`, `Start ${now.engine} again.`);
}

function engineFinding(
  look: SandboxLook,
  wanted: SandboxLook['chosen'],
  least: SandboxLook['chosen'],
): Finding {
  const { chosen, description, refused, engines } = look;
  const reasons = reasonsOf(refused);
  if (chosen === null) {
    const only = `CLAW_SANDBOX asks for ${wanted}: start that, or take the line out of .env.`;
    return problem(AREA, `Agents cannot run. ${reasons}`, wanted === null ? INSTALL : only);
  }
  if (wanted === null && isWeaker(engines, chosen, least)) {
    const advice = `Start ${least} again, or say \`/sandbox ${chosen}\` to the assistant.`;
    return problem(
      AREA,
      `Agents ran in ${least} and do not run in ${chosen} unasked. ${reasons}`,
      advice,
    );
  }
  const message = `agents run in ${description}`;
  return ok(AREA, message, better(look));
}

/** Says what would limit agents as a whole, where they run in an engine that limits each process. */
function better({ chosen, refused, engines }: SandboxLook): string | null {
  const isStrong = engines.some(({ name, limits }) => name === chosen && limits === 'container');
  if (isStrong || refused.length === 0) return null;
  return `A container would limit them as a whole. ${reasonsOf(refused)}`;
}

function reasonsOf(refused: SandboxLook['refused']): string {
  return refused.map(({ name, reason }) => `${name}: ${reason}`).join(' ');
}

function imageFinding({ image }: SandboxLook): readonly Finding[] {
  if (image === null) return [];
  if (image.isThere) return [ok('image', `${image.name} on ${image.base}`)];
  if (image.base !== null) {
    const message = `not built yet; the first start builds it on ${image.base}, in a minute`;
    return [ok('image', message)];
  }
  return [
    ok(
      'image',
      `not built yet; the first start downloads ${image.wantedBase}`,
      'On a machine that cannot, `npx node scripts/base-image.ts` makes a base.',
    ),
  ];
}

function leftovers({ containers, chosen }: SandboxLook, { dataDir }: Subject): readonly Finding[] {
  if (containers.length === 0 || isRunning(dataDir)) return [];
  const count = containers.length === 1 ? '1 container is' : `${containers.length} containers are`;
  const remove = `${chosen} rm -f ${containers.map((id) => id.slice(0, 12)).join(' ')}`;
  return [
    ok(
      AREA,
      `${count} left of an assistant that was killed`,
      `The next start removes them, or: ${remove}`,
    ),
  ];
}

/** Images and containers may be on another disk than the project. */
function room({ rootDir }: SandboxLook): readonly Finding[] {
  if (rootDir === null || statOrNull(rootDir) === null) return [];
  const free = freeBytes(rootDir);
  if (free >= LEAST_FREE) return [];
  return [
    problem(
      AREA,
      `only ${sizeText(free)} free in ${rootDir}`,
      'Free some space: `docker system df` shows what takes it.',
    ),
  ];
}

function statOrNull(path: string) {
  try {
    return statfsSync(path);
  } catch {
    return null; // Of a machine of its own, as on macOS.
  }
}
