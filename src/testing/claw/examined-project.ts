import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { readSettings } from '../../config.ts';
import { discoverExaminations, examineAssistant, type Finding } from '../../doctor/examination.ts';
import { TEST_KEY } from '../sandbox-project.ts';

export const REPOSITORY = resolve(import.meta.dirname, '../../..');

/** An assistant as far as the lock goes, in a process of its own. */
export const HOLD_LOCK = `
  const { lockInstance } = await import(process.argv[1] + '/src/supervisor/instance-lock.ts');
  globalThis.lock = lockInstance(process.argv[2], process.pid);
  process.stdout.write('held');
  setInterval(() => {}, 1000);`;

type Given = {
  readonly env?: Record<string, string>;
  readonly now?: number;
  readonly online?: boolean;
};

/** A project for `claw doctor` to look at, empty at the beginning of each test of the file. */
export type ExaminedProject = {
  readonly folder: string;
  readonly data: string;
  /**
   * Returns the findings of one area. Podman is asked because that is fastest: where it is absent, no
   * engine is tried. The parts, which are made in a process of their own, are looked at only where they are
   * the area.
   */
  found(area: string, given?: Given): Promise<readonly Finding[]>;
};

/** Makes the project before each test of the file that calls it, and deletes it afterwards. */
export function examinedProject(): ExaminedProject {
  let folder = '';
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'claw-doctor-')));
    mkdirSync(join(folder, 'data'), { mode: 0o700 });
    cpSync(join(REPOSITORY, 'container'), join(folder, 'container'), { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return {
    get folder() {
      return folder;
    },
    get data() {
      return join(folder, 'data');
    },
    found: (area, given = {}) => findingsOf(folder, area, given),
  };
}

async function findingsOf(
  folder: string,
  area: string,
  { env = {}, now, online = false }: Given,
): Promise<readonly Finding[]> {
  const environment = { CLAW_SANDBOX: 'podman', ANTHROPIC_API_KEY: TEST_KEY, ...env };
  let settings = null;
  try {
    settings = readSettings(environment, folder);
  } catch {
    // What the doctor is to say.
  }
  const subject = {
    projectDir: folder,
    dataDir: join(folder, 'data'),
    homeDir: '/nowhere',
    environment,
    settings,
    isOffline: !online,
    now: () => now ?? Date.now(),
  };
  const examinations = discoverExaminations().then((all) =>
    all.filter((one) => one.area !== 'parts' || area === 'parts'),
  );
  const findings = await examineAssistant(subject, examinations);
  expect(JSON.stringify(findings)).not.toContain(TEST_KEY);
  for (const { ok, advice } of findings) expect(ok || advice !== null).toBe(true);
  return findings.filter((finding) => finding.area === area);
}
