import { statfsSync } from 'node:fs';
import { examineSandbox, type SandboxLook } from '../sandbox/examine.ts';
import { isRunning } from '../supervisor/instance-lock.ts';
import { type Examination, type Finding, ill, type Subject, well } from './examination.ts';
import { freeBytes, LEAST_FREE, sizeText } from './size.ts';

const AREA = 'containers';

/** What agents run in: the engine, their image, and what an assistant that was killed left behind. */
export const examination: Examination = {
  area: AREA,
  order: 30,
  async examine(subject) {
    const { projectDir, settings, environment } = subject;
    if (settings === null) return [];
    const look = await examineSandbox({
      projectDir,
      settings,
      dockerHost: environment['DOCKER_HOST'] ?? null,
    });
    const wanted = engineFinding(look, settings.sandbox);
    return [wanted, ...imageFinding(look), ...leftovers(look, subject), ...room(look)];
  },
};

const INSTALL =
  'Install Docker (Debian: `sudo apt install docker.io`; macOS: Docker Desktop) or bubblewrap.';

function engineFinding(
  { chosen, description, refused }: SandboxLook,
  wanted: SandboxLook['chosen'],
): Finding {
  const reasons = refused.map(({ name, reason }) => `${name}: ${reason}`).join(' ');
  if (chosen === null) {
    const only = `CLAW_SANDBOX asks for ${wanted}: start that, or take the line out of .env.`;
    return ill(AREA, `Agents cannot run. ${reasons}`, wanted === null ? INSTALL : only);
  }
  if (chosen !== 'bubblewrap') return well(AREA, `agents run in ${description}`);
  const better = refused.length === 0 ? null : `Docker would limit them as a whole. ${reasons}`;
  return well(AREA, `agents run in ${description}`, better);
}

function imageFinding({ image }: SandboxLook): readonly Finding[] {
  if (image === null) return [];
  if (image.isThere) return [well('image', `${image.name} on ${image.base}`)];
  if (image.base !== null) {
    const message = `not built yet; the first start builds it on ${image.base}, in a minute`;
    return [well('image', message)];
  }
  return [
    well(
      'image',
      `neither it nor its base is here; the first start fetches ${image.wantedBase}`,
      'On a machine that cannot, `node scripts/base-image.ts` makes a base.',
    ),
  ];
}

function leftovers({ containers, chosen }: SandboxLook, { dataDir }: Subject): readonly Finding[] {
  if (containers.length === 0 || isRunning(dataDir)) return [];
  const count = containers.length === 1 ? '1 container is' : `${containers.length} containers are`;
  const remove = `${chosen} rm -f ${containers.map((id) => id.slice(0, 12)).join(' ')}`;
  return [
    well(
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
    ill(
      AREA,
      `only ${sizeText(free)} free in ${rootDir}`,
      'Make room: `docker system df` shows what is there.',
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
