import { expect, test } from 'vitest';
import { type Codebase, temporaryCodebase } from '../../../src/testing/claw/codebase.ts';

const CORE = {
  'package.json': '{\n  "name": "demo",\n  "version": "1.0.0",\n  "dependencies": {}\n}\n',
  '.env.example': 'HOST=localhost\n# MODEL=best\n',
  // The contributions here are read and never run.
  'claw.config.yaml': "test: 'true'\n",
  'src/config.ts':
    "import { z } from 'zod';\nexport const Core = z.object({ SECRET_ONE: z.string() });\n",
};

const PIGEON = `import { z } from 'zod';
import { defineChannel } from './channel.ts';
import { Loft } from './pigeon/loft.ts';

export const channel = defineChannel({
  name: 'pigeon',
  settings: z.object({ PIGEON_URL: Loft.optional(), MODEL: z.string(), PIGEON_KEY: z.string() }),
  create: () => null,
});
const Reply = z.object({ OK: z.boolean(), text: z.string() });
`;
const SETUP = `import { defineSetup } from './step.ts';
export const setup = defineSetup({
  name: 'pigeon',
  help: 'tells the assistant where the loft is',
  run: async () => ({ summary: '', data: {} }),
});
`;

/** SKILL.md without its head. */
function pageOf(codebase: Codebase, name: string): string {
  return codebase.read(`skills/${name}/SKILL.md`).split('## Set-up\n')[1]?.trim() ?? '';
}

test('the page of a fresh package says its settings, its step, its packages and the restart', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.write({
    'src/channels/pigeon.ts': PIGEON,
    'src/setup/pigeon.ts': SETUP,
    '.env.example':
      'HOST=localhost\n# MODEL=best\n# Where the loft is\nPIGEON_URL=https://loft.example\nPIGEON_KEY=\n',
    'package.json': CORE['package.json'].replace('{}', '{ "coo": "^1.2.0" }'),
    'docker-compose.yml': 'services:\n  loft:\n    image: loft:7\n',
  });
  const run = await codebase.claw('pack', 'pigeon');
  expect(run).toMatchObject({ code: 0, json: { warnings: [] } });
  expect(pageOf(codebase, 'pigeon')).toBe(
    [
      '1. Run `npx claw setup pigeon`, which asks for what is needed. By hand it is in `.env`:',
      '   - `PIGEON_URL`: Where the loft is. For example `https://loft.example`.',
      '   - `PIGEON_KEY`',
      '2. Start what it needs beside it: `docker compose up -d loft`.',
      '3. Restart: say `/restart` in your own chat with the assistant.',
      '',
      'Installed with it: the npm package `coo` (^1.2.0).',
    ].join('\n'),
  );
});

test('a setting that the code reads and env_additions lacks is told at once, until it is there', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  codebase.write({ 'src/channels/pigeon.ts': PIGEON });
  const warnings = [
    'src/channels/pigeon.ts reads PIGEON_URL and PIGEON_KEY, which env_additions of ' +
      'skills/pigeon/manifest.yaml lacks. Name them there, or add them to .env.example with a comment above, ' +
      'then: claw pack pigeon .env.example --update.',
  ];
  const run = await codebase.claw('pack', 'pigeon');
  expect(run.json.warnings).toEqual(warnings);
  expect(pageOf(codebase, 'pigeon')).toBe(
    [
      '1. Its settings are in `.env`:',
      '   - `PIGEON_URL`',
      '   - `PIGEON_KEY`',
      '2. Restart: say `/restart` in your own chat with the assistant.',
    ].join('\n'),
  );
  const added = 'HOST=localhost\n# MODEL=best\n# Where\nPIGEON_URL=\n# A key\nPIGEON_KEY=\n';
  codebase.write({ '.env.example': added });
  const update = ['pack', 'pigeon', '.env.example', '--update'];
  expect(await codebase.claw(...update)).toMatchObject({ code: 0, json: { warnings: [] } });
  expect(codebase.read('skills/pigeon/manifest.yaml')).toContain('name: PIGEON_KEY');
  expect((await codebase.claw('apply', 'pigeon')).code).toBe(0);
  codebase.write({ 'src/channels/pigeon.ts': PIGEON.replace('PIGEON_KEY:', 'PIGEON_TOKEN:') });
  expect((await codebase.claw('pack', 'pigeon', '--update')).json.warnings).toEqual([
    expect.stringContaining('src/channels/pigeon.ts reads PIGEON_TOKEN, which'),
  ]);
});

test('settings that a changed file of the core read before are not the skill’s', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  const more = CORE['src/config.ts'].replace('SECRET_ONE:', 'SECRET_TWO: z.string(), SECRET_ONE:');
  codebase.write({ 'src/config.ts': more });
  const run = await codebase.claw('pack', 'more');
  expect(run.json.warnings).toEqual([
    expect.stringContaining('src/config.ts reads SECRET_TWO, which'),
  ]);
});

test('without settings the page says that nothing is to set up, and when it works', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  const bare = "export const tool = defineTool({ name: 'bare', create: () => null });\n";
  codebase.write({ 'src/tools/bare.ts': bare });
  await codebase.claw('pack', 'bare');
  expect(pageOf(codebase, 'bare')).toBe(
    'Nothing has to be set up. What runs already takes it in after a restart: say `/restart` in your own ' +
      'chat with the assistant.',
  );
  codebase.remove('src/tools/bare.ts');
  codebase.write({
    'src/plain.ts': 'export const plain = 1;\n',
    'src/broken.ts': '{ z.object({\n',
  });
  await codebase.claw('pack', 'plain');
  expect(pageOf(codebase, 'plain')).toBe('Nothing has to be set up.');
});

test('skills packed one after the other from settings written by hand leave no edit', async () => {
  await using codebase = temporaryCodebase(CORE, { git: true });
  for (const name of ['dog', 'cow', 'ant']) {
    const before = codebase.read('.env.example');
    codebase.write({
      [`src/${name}.ts`]: `export const ${name} = 1;\n`,
      '.env.example': `${before}# Name of the ${name}\n${name.toUpperCase()}_NAME=${name}\n`,
    });
    expect((await codebase.claw('pack', name)).code).toBe(0);
    expect((await codebase.claw('apply', name)).code).toBe(0);
    expect((await codebase.claw('status')).json.data).toMatchObject({ edits: [] });
  }
});
