import { existsSync, mkdirSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { discoverContributions } from '../../contributions.ts';
import { discoverTools } from '../../host/contracts/tool.ts';
import { examinedProject } from '../../testing/claw/examined-project.ts';
import { ContributionFolder } from '../../testing/contributions.ts';
import { examineApart } from '../parts/examine-apart.ts';
import { examineParts } from '../parts.ts';

const project = examinedProject();

test('a package of package.json that is not there, or too old, is named', async () => {
  expect(await project.found('packages')).toEqual([]);
  const dependencies = { zod: '^4.0.0', owl: '^2.0.0', jay: '^1.0.0', local: 'file:../local' };
  writeFileSync(join(project.folder, 'package.json'), JSON.stringify({ dependencies }));
  for (const [name, version] of [
    ['zod', '4.1.0'],
    ['owl', '1.9.0'],
    ['local', '0.0.1'],
  ] as const) {
    mkdirSync(join(project.folder, 'node_modules', name), { recursive: true });
    writeFileSync(
      join(project.folder, 'node_modules', name, 'package.json'),
      JSON.stringify({ version }),
    );
  }
  expect((await project.found('packages')).map(({ ok, message }) => [ok, message])).toEqual([
    [false, 'package.json needs owl ^2.0.0; installed is 1.9.0.'],
    [false, 'package.json needs jay, which is not installed.'],
  ]);
});

test('a part whose create throws is named with its file, as at the start; one that lacks a setting, too', async () => {
  const tool = (name: string, create: string) => `import { z } from 'zod';
import { defineTool } from 'src/host/contracts/tool.ts';
export const tool = defineTool({ name: '${name}', settings: z.object({ OWL_KEY: z.string().optional() }),
  needs: ['OWL_KEY'], create: ${create} });`;
  using tools = new ContributionFolder({
    'owl.ts': tool(
      'owl',
      `({ settings, openDatabase }) => {
      openDatabase(['CREATE TABLE nights (id INTEGER)']);
      if (settings.OWL_KEY === undefined) return null;
      throw new Error('no night');
    }`,
    ),
    // One of the name of an examination, which tells by itself what is not set.
    'told.ts': tool('budgets', '() => null'),
  });
  const contributions = {
    ...(await discoverContributions()),
    tools: await discoverTools(tools.dir),
  };
  const look = (environment: Record<string, string>) =>
    examineParts(contributions, {
      projectDir: project.folder,
      dataDir: project.data,
      homeDir: '/nowhere',
      environment,
      settings: null,
      isOffline: true,
      now: Date.now,
    });
  expect(look({})).toMatchObject([
    { ok: true, message: expect.stringMatching(/^\d+ are loaded/) },
    { ok: true, message: 'the tool owl is off: OWL_KEY is not set' },
  ]);
  expect(look({})).toHaveLength(2);
  expect(look({ OWL_KEY: 'k' })).toMatchObject([
    { ok: false, message: `${join(tools.dir, 'owl.ts')} cannot be made: no night (line 7)` },
  ]);
  expect(existsSync(join(project.data, 'databases'))).toBe(false);
  const ownTools = join(project.folder, 'container/agent/tools');
  mkdirSync(ownTools, { recursive: true });
  for (const file of ['one.ts', 'two.ts']) {
    writeFileSync(join(ownTools, file), "export const tool = defineTool({ name: 'count' });");
  }
  expect(look({})).toMatchObject([
    { ok: false, message: expect.stringMatching(/one\.ts and .*two\.ts are both called "count"/) },
  ]);
  rmSync(ownTools, { recursive: true });
  expect(await project.found('parts')).toMatchObject([{ ok: true }]);
});

test.each([
  ['process.exit(0)', /^FILE cannot be made: it ended the process, with 0$/],
  [
    `console.log('x'); void Promise.reject(new Error('boom'))`,
    /^What was made broke afterwards: boom \(FILE:3\)$/,
  ],
  [
    `writeFileSync(process.env.HERE, ''); for (;;);`,
    /^FILE cannot be made: it does not come to an end$/,
  ],
  ['setInterval(() => {}, 1_000)', null],
])('a part that does this when it is made does no harm to who looks: %s', async (work, told) => {
  const here = join(project.folder, 'here');
  using parts = new ContributionFolder({
    'evil.ts': `import { writeFileSync } from 'node:fs';
import { defineTool } from 'src/host/contracts/tool.ts';
export const tool = defineTool({ name: 'evil', create() { ${work}; return null; } });`,
  });
  using program = new ContributionFolder({
    'child.ts': `import { discoverContributions } from 'src/contributions.ts';
import { discoverTools } from 'src/host/contracts/tool.ts';
import { examineParts } from 'src/doctor/parts.ts';
import { examineForParent } from 'src/doctor/parts/examine-apart.ts';
await examineForParent(examineParts, async () => ({
  ...(await discoverContributions()), tools: await discoverTools('${parts.dir}') }));`,
  });
  const giveUp = new AbortController();
  const watched = watch(project.folder, () => existsSync(here) && giveUp.abort());
  const findings = await examineApart(
    join(program.dir, 'child.ts'),
    {
      projectDir: project.folder,
      dataDir: project.data,
      homeDir: '/nowhere',
      environment: { HERE: here },
      settings: null,
      isOffline: true,
      now: Date.now,
    },
    { area: 'parts', advice: 'mend', signal: giveUp.signal },
  );
  watched.close();
  const file = join(parts.dir, 'evil.ts');
  if (told === null) return expect(findings[0]).toMatchObject({ ok: true });
  const message = findings[0]?.message.replace(file, 'FILE');
  expect(message).toMatch(told);
});
