import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { setupSteps } from '../report.ts';

test('links of a skill’s page lead from the project’s folder, where the chat shows its steps', async () => {
  const project = mkdtempSync(join(tmpdir(), 'claw-steps-'));
  onTestFinished(() => rmSync(project, { recursive: true }));
  mkdirSync(join(project, 'skills/lamp'), { recursive: true });
  const steps =
    'As a [service](../../docs/service.md), by [line](../serial/SKILL.md#a), see [page](https://a.example/../b) and [more](#more).';
  const page = `---\nname: lamp\n---\n# Lamp\n\n## Set it up\n\n${steps}\n\n## More\n\nNo.\n`;
  writeFileSync(join(project, 'skills/lamp/SKILL.md'), page);
  expect((await setupSteps(project, 'lamp')).section).toBe(
    'As a [service](docs/service.md), by [line](skills/serial/SKILL.md#a), see [page](https://a.example/../b) and [more](skills/lamp/SKILL.md#more).',
  );
});
