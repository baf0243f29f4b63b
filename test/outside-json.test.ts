import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const HOME = join(import.meta.dirname, '..');

/**
 * Files that read JSON without bounds, by who has written it. All that comes from a container, a messenger, a server or
 * a caller is read by `src/lib/bounded-json.ts`: otherwise a text of a few megabytes stops all chats for minutes.
 */
const WITHOUT_BOUNDS: Readonly<Record<string, readonly string[]>> = {
  'the reader with bounds itself': ['src/lib/bounded-json.ts'],
  'the assistant, in its own database or folder': [
    'skills/dashboard/add/src/services/dashboard/{matrix,push}.ts',
    'skills/far/add/src/lib/far/{far-state,worker-folder}.ts',
    'skills/fleet/add/src/lib/fleet/fleet-book.ts',
    'skills/guard/add/src/guards/guard/audit-log.ts',
    'skills/matrix/add/src/channels/matrix/delivery.ts',
    'skills/discord/add/src/channels/discord/delivery.ts',
    'skills/matrix/add/src/channels/matrix/inbound/inbox.ts',
    'skills/matrix/add/src/channels/matrix/records/*.ts',
    'skills/mcp/add/src/lib/mcp/server-states.ts',
    'skills/mcp/add/src/services/mcp/oauth.ts',
    'skills/pipeline/add/src/services/pipeline/ledger.ts',
    'skills/private-answers/add/src/host/inbound-path/private-answers.ts',
    'skills/quiet-hours/add/src/store/quiet-hours.ts',
    'skills/roles/add/src/prompt/roles/selection.ts',
    'skills/telegram/add/src/channels/telegram/update-inbox.ts',
    'skills/voice/add/src/lib/voice/{chats,day-book}.ts',
    'src/channels/whatsapp/{inbound/media,outbound/poll}.ts',
    'src/channels/whatsapp/session/*.ts',
    'src/doctor/last-state.ts',
    'src/host/groups/chat-list.ts',
    'src/host/turns/tool-calls/call-journal.ts',
    'src/http/devices.ts',
    'src/import/{file-journal,undo}.ts',
    'src/sandbox/other-machines.ts',
    'src/store/**/*.ts',
    'src/supervisor/rollback/*.ts',
  ],
  'this code and its packages': [
    'skills/claude-agent/add/src/doctor/claude-agent.ts',
    'skills/dashboard/add/src/services/dashboard/assets.ts',
    'skills/far/add/src/lib/far/worker-package.ts',
    'skills/mcp/add/src/lib/mcp/packages.ts',
    'src/doctor/packages.ts',
    'src/lib/{kept-packages,starter-set}.ts',
    'src/main.ts',
    'src/sandbox/agent-link/bundle.ts',
    'src/sandbox/engines/daemon/seccomp.ts',
  ],
  '`claw`, which runs as the owner': [
    'src/host/contracts/claw.ts',
    'src/services/backup.ts',
    'src/verbs/backup/installation.ts',
  ],
  'the owner, in a setting': [
    'skills/mcp/add/src/lib/mcp/{config,edit}.ts',
    'skills/providers/add/src/model/providers/compatible/headers.ts',
    'skills/webhook/add/src/lib/webhook/hook.ts',
  ],
  'the owner, who types a code': ['skills/far/add/src/lib/far/join-code.ts'],
  'the owner, in .env': ['src/supervisor/environment.ts'],
  'a program that the owner has installed, such as tailscale': [
    'skills/dashboard/add/src/setup/dashboard.ts',
  ],
  'the assistant at home, whose containers this machine runs': ['src/sandbox/far/laid-mounts.ts'],
  'a library that has decrypted one event, which is 64 KB at most': [
    'skills/matrix/add/src/channels/matrix/encryption/machine.ts',
  ],
  'whoever has set the limits just before': [
    'skills/mcp/add/src/services/mcp/program-transport.ts',
  ],
  'an agent’s own container, where it harms itself only': [
    'container/**/*.ts',
    'skills/*/add/container/**/*.ts',
  ],
};
const READ = '{src,container}/**/*.ts';
const NOT_READ = /\.test\.ts$|\/(testing|tests)\/|^src\/(engine|cli)\//;

test('JSON from outside is read with bounds', () => {
  const known = new Set(
    Object.values(WITHOUT_BOUNDS).flatMap((globs) => globSync([...globs], { cwd: HOME })),
  );
  const all = globSync([READ, `skills/*/add/${READ}`], { cwd: HOME });
  const found = all.filter(
    (path) =>
      !NOT_READ.test(path) &&
      /\bJSON\.parse\(|\.json\(\)/.test(readFileSync(join(HOME, path), 'utf8')),
  );
  expect(found.length).toBeGreaterThan(30);
  expect(found.filter((path) => !known.has(path))).toEqual([]);
  // A place of the table where nothing is read any more is a gap.
  for (const glob of Object.values(WITHOUT_BOUNDS).flat()) {
    const paths = globSync(glob, { cwd: HOME });
    expect(
      paths.filter((path) => found.includes(path)),
      glob,
    ).not.toEqual([]);
  }
});
