import { existsSync } from 'node:fs';
import { describe, test } from 'vitest';
import { openBubblewrap } from '../sandbox/engines/bwrap/bwrap.ts';
import { agentUser } from '../sandbox/mounts/ownership.ts';

export type TestEngine = 'docker' | 'bubblewrap';

/** The daemon behind `docker` in tests: podman's service, as root, with `CLAW_TEST_DAEMON=podman`. */
export const TEST_DAEMON =
  process.env['CLAW_TEST_DAEMON'] === 'podman'
    ? ({ name: 'podman', socketPath: '/run/podman/podman.sock' } as const)
    : ({ name: 'docker', socketPath: '/var/run/docker.sock' } as const);

/** Any of these can carry the agent's image. */
const BASES = ['patchclaw-base:bookworm', 'node:24-slim'];

/**
 * Describes tests that need a real engine.
 *
 * Where it is missing they are skipped and say why; with `CLAW_REQUIRE_ENGINE=1` they fail instead, so
 * that a machine which is meant to run them cannot pass without.
 */
export async function describeWithEngine(
  engine: TestEngine,
  title: string,
  body: () => void,
): Promise<void> {
  const missing = engine === 'docker' ? await missingDocker() : await missingBubblewrap();
  if (missing === null) {
    describe(title, body);
    return;
  }
  if (process.env['CLAW_REQUIRE_ENGINE'] === '1') {
    describe(title, () => {
      test('has its engine', () => {
        throw new Error(`CLAW_REQUIRE_ENGINE is set, and ${missing}`);
      });
    });
    return;
  }
  console.warn(`skipped: ${title}: ${missing}`);
  describe.skip(`${title} (${missing})`, body);
}

async function missingDocker(): Promise<string | null> {
  const { name, socketPath } = TEST_DAEMON;
  const nothing = `no daemon of ${name} answers on ${socketPath}`;
  if (!existsSync(socketPath)) return nothing;
  // Loading its library takes longer than most tests, which do without a daemon.
  const { pingDocker } = await import('../sandbox/engines/daemon/daemon.ts');
  const docker = await pingDocker({ socketPath });
  if (docker === null) return nothing;
  for (const base of BASES) {
    const found = await docker
      .getImage(base)
      .inspect()
      .catch(() => null);
    if (found !== null) return null;
  }
  return 'there is no base image; make one with `npx node scripts/base-image.ts`';
}

async function missingBubblewrap(): Promise<string | null> {
  const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  return openBubblewrap({
    user: agentUser(own),
    isRoot: own.uid === 0,
    nodePath: process.execPath,
  }).then(
    () => null,
    (error: Error) => error.message,
  );
}
