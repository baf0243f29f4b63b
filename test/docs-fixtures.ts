import { type Files, skillFiles } from '../src/testing/claw/codebase.ts';
import type { Fixture } from './transcripts.ts';

const APP = `import { greeting } from './greeting.mjs';

console.log(greeting('world'));
`;
const GREETING = `export function greeting(name) {
  return \`Hello, \${name}.\`;
}
`;
const GREETER: Files = { 'project/app.mjs': APP, 'project/greeting.mjs': GREETING };

const LOUD = packageFiles('loud', {
  manifest: `skill: loud
version: 1.0.0
description: Says everything loudly
core_version: 1.0.0
`,
  'add/loud.mjs': `export function loud(text) {
  return text.toUpperCase();
}
`,
  'base/app.mjs': APP,
  'modify/app.mjs': `import { greeting } from './greeting.mjs';
import { loud } from './loud.mjs';

console.log(loud(greeting('world')));
`,
  'tests/loud.test.mjs': `import assert from 'node:assert';
import { test } from 'node:test';
import { loud } from '../../../loud.mjs';

test('it is loud', () => assert.equal(loud('hello'), 'HELLO'));
`,
});

const POLITE = packageFiles('polite', {
  manifest: `skill: polite
version: 1.0.0
description: Asks how you are
core_version: 1.0.0
adds: []
modifies: [app.mjs]
`,
  'base/app.mjs': APP,
  'modify/app.mjs': APP.replace(/\(.*\)/, "(greeting('world'), 'How are you?')"),
  'modify/app.mjs.intent.md': '**Must keep:** the question comes last.\n',
});

/** Without base/, as NanoClaw's packages are. */
const DATED = packageFiles('dated', {
  manifest: `skill: dated
version: 1.0.0
description: Says since when
core_version: 1.0.0
adds: []
modifies: [greeting.mjs]
`,
  'modify/greeting.mjs': `${GREETING}
export const since = 2026;
`,
});

const FIRST_COMMIT = `git init -q -b main
git add -A
git commit -qm first
git tag v1.0.0
`;

const EXCLAIM = packageFiles('exclaim', {
  manifest: `skill: exclaim
version: 1.0.0
description: Greets with an exclamation mark
core_version: 1.0.0
adds: []
modifies: [greeting.mjs]
`,
  'base/greeting.mjs': GREETING,
  'modify/greeting.mjs': GREETING.replace('.`', '!`'),
});

/** Somebody's project at two states, and a fork of the first with three commits of one's own. */
const FORK = `mkdir ../upstream
cp app.mjs greeting.mjs ../upstream
cd ../upstream
echo '{ "name": "greeter", "version": "1.2.0" }' > package.json
mkdir -p .github/workflows
echo 'on: push' > .github/workflows/ci.yml
git init -q -b main
git add -A
git commit -qm 'the greeter'
cd ../project
git clone -q ../upstream fork
rm app.mjs greeting.mjs
mv fork/.git .
rm -r fork
git checkout -q -- .
git remote set-url origin https://example.org/you/greeter.git
sed -i 's/Hello/Good morning/' greeting.mjs
git commit -qam 'feat: greet as one does before noon'
echo "export const languages = ['en'];" > languages.mjs
git add -A
git commit -qm 'feat: name the languages'
sed -i 's/world/Berlin/' app.mjs
git commit -qam 'feat: greet Berlin'
cd ../upstream
sed -i 's/"1.2.0"/"2.0.0"/' package.json
sed -i 's/world/everybody/' app.mjs
echo 'on: [push, pull_request]' > .github/workflows/ci.yml
git commit -qam 'feat!: greet everybody'
echo 'Say hello.' > README.md
git add -A
git commit -qm 'docs: a README'
cd ../project
`;

/** The second release moves a file, greets everybody, and brings a skill that greets the world as before. */
const SECOND_RELEASE = `git checkout -q -b upstream
mkdir src
git mv greeting.mjs src/greeting.mjs
sed -i 's|./greeting|./src/greeting|; s/world/everybody/' app.mjs
cp -r ../world skills/world
cat > migrations.yaml <<'END'
- since: 2.0.0
  description: the greeting has moved
  path_map:
    greeting.mjs: src/greeting.mjs
- since: 2.0.0
  description: greets everybody, no longer the world
  skill: world
END
git add -A
git commit -qm second
git tag v2.0.0
git checkout -q main
`;

const NEW_APP = APP.replace('./', './src/').replace('world', 'everybody');
const WORLD = packageFiles('world', {
  manifest: `skill: world
version: 1.0.0
description: Greets the world, as before 2.0.0
core_version: 2.0.0
adds: []
modifies: [app.mjs]
`,
  'base/app.mjs': NEW_APP,
  'modify/app.mjs': NEW_APP.replace('everybody', 'world'),
});

const CONFIG = `export const name = 'Andy';

export const limits = {
  files: 10,
  messages: 100,
};
`;

/** Four skills, of which two want another limit and one another name. */
const CHANNELS: Files = {
  'project/config.mjs': CONFIG,
  ...channel('discord', { 'config.mjs': ['100', '200'] }),
  ...channel('email', {}),
  ...channel('slack', { 'config.mjs': ['100', '50'] }),
  ...channel('voice', { 'config.mjs': ["'Andy'", "'Andy'.toUpperCase()"] }),
};

/** A skill that wants a service on a port that others may want as well. */
function service(name: string, image: string): Files {
  const manifest = `skill: ${name}
version: 1.0.0
description: Brings a ${name}
core_version: 1.0.0
adds: []
modifies: []
structured:
  docker_compose_services:
    ${image.split(':')[0]}: { image: '${image}', ports: ['127.0.0.1:6379:6379'] }
`;
  return packageFiles(name, { manifest });
}

function channel(name: string, changes: Readonly<Record<string, readonly [string, string]>>) {
  const [change] = Object.entries(changes);
  const manifest = `skill: ${name}
version: 1.0.0
description: Messages by ${name}
core_version: 1.0.0
adds: [${name}.mjs]
modifies: [${change?.[0] ?? ''}]
`;
  const added = { [`add/${name}.mjs`]: `export const ${name} = true;\n` };
  if (change === undefined) return packageFiles(name, { ...added, manifest });
  const [path, [from, to]] = change;
  const modified = CONFIG.replace(from, to);
  const changed = { [`base/${path}`]: CONFIG, [`modify/${path}`]: modified };
  return packageFiles(name, { ...added, ...changed, manifest });
}

const HELLO = `name=world

echo "Hello, $name."
`;

/** A codebase without a line of JavaScript. */
const SHELL: Files = {
  'project/hello.sh': HELLO,
  'project/claw.config.yaml': `check: [sh -n hello.sh]
test: sh
exclude: [logs/**]
`,
  ...packageFiles('loud', {
    manifest: `skill: loud
version: 1.0.0
description: Says everything loudly
core_version: 1.0.0
adds: []
modifies: [hello.sh]
test: [tests/loud.sh]
`,
    'base/hello.sh': HELLO,
    'modify/hello.sh': HELLO.replace('Hello, $name.', 'HELLO, $name!'),
    'tests/loud.sh': `sh hello.sh | grep -q '^HELLO'\n`,
  }),
};

/** Codebases that the transcripts of docs/ are run in, by the names that the pages give. */
/** Makes a store of NanoClaw 1 with two chats, one message and one task. */
const NANOCLAW = `import { DatabaseSync } from 'node:sqlite';

new DatabaseSync('../nanoclaw/store/messages.db').exec(\`
  CREATE TABLE chats (jid, name, channel, is_group);
  CREATE TABLE messages (id, chat_jid, sender, sender_name, content, timestamp, is_from_me, is_bot_message);
  CREATE TABLE registered_groups (jid, name, folder, trigger_pattern, added_at, requires_trigger, is_main);
  CREATE TABLE scheduled_tasks (id, group_folder, prompt, schedule_type, schedule_value, next_run, status, created_at);
  INSERT INTO registered_groups VALUES ('491701@s.whatsapp.net', 'Ada', 'main', '@Andy', '1', 0, 1),
    ('1203@g.us', 'Family', 'family', '@Andy', '2', 1, 0);
  INSERT INTO messages VALUES
    ('m1', '1203@g.us', '4917', 'Ben', 'We chose the chocolate cake', '2026-11-27T18:00:00Z', 0, 0);
  INSERT INTO scheduled_tasks VALUES
    ('t1', 'family', 'Say good morning', 'cron', '0 8 * * *', NULL, 'active', '2026-11-01T08:00:00Z');
\`);
`;

export const FIXTURES: Readonly<Record<string, Fixture>> = {
  greeter: { files: { ...GREETER, ...LOUD }, setup: FIRST_COMMIT },
  'two-branches': {
    files: { ...GREETER, ...LOUD, ...EXCLAIM },
    setup: `${FIRST_COMMIT}claw init
git add -A
git commit -qm init
git checkout -q -b other
claw apply exclaim
git add -A
git commit -qm exclaim
git checkout -q main
claw apply loud
git add -A
git commit -qm loud
`,
  },
  everything: {
    files: { ...GREETER, ...LOUD, ...POLITE, ...DATED },
    setup: `${FIRST_COMMIT}claw apply loud dated
claw apply polite || true
claw resolve app.mjs --ours
claw continue
sed -i 's/Hello/Good morning/' greeting.mjs
claw customize 'greet as one does before noon'
`,
  },
  channels: { files: CHANNELS, setup: FIRST_COMMIT },
  services: {
    files: { ...GREETER, ...service('cache', 'redis:8'), ...service('queue', 'valkey:9') },
    setup: FIRST_COMMIT,
  },
  shop: {
    files: { ...GREETER, ...movedTo('shop/skills/', LOUD), ...movedTo('', EXCLAIM) },
    setup: `${FIRST_COMMIT}tar -czf ../exclaim-1.0.0.tgz -C .. exclaim
cd ../shop
${FIRST_COMMIT}git tag v1
`,
  },
  assistant: {
    files: {
      ...GREETER,
      'project/.env': 'ASSISTANT_NAME=Ada\nOPENAI_API_KEY=sk-not-a-real-key\n',
      'project/.gitignore': '/data/\n/groups/\n/.env\n/.restore/\n',
      'project/groups/main/CLAUDE.md': 'Likes tea.\n',
      'project/data/sessions/main/talk.jsonl': '{}\n',
    },
    setup: `${FIRST_COMMIT}node -e 'new (require("node:sqlite").DatabaseSync)("data/claw.db").exec("CREATE TABLE outbox (state, error); CREATE TABLE turns (state, lease_owner, lease_until, error); CREATE TABLE messages (text); INSERT INTO messages VALUES (1), (2)")'
`,
  },
  nanoclaw: {
    files: {
      ...GREETER,
      'project/.gitignore': '/data/\n/groups/\n/.env\n',
      'make-store.mjs': NANOCLAW,
      'nanoclaw/package.json': '{"version":"1.2.12"}\n',
      'nanoclaw/.env':
        'ANTHROPIC_API_KEY=sk-not-a-real-key\nTELEGRAM_BOT_TOKEN=1:not-a-real-token\n',
      'nanoclaw/groups/main/CLAUDE.md': 'Likes tea.\n',
      'nanoclaw/groups/family/CLAUDE.md': 'Ben is allergic to nuts.\n',
    },
    setup: `${FIRST_COMMIT}mkdir ../nanoclaw/store
node ../make-store.mjs
`,
  },
  shell: { files: SHELL, setup: FIRST_COMMIT },
  fork: { files: GREETER, setup: FORK },
  'two-skills': { files: { ...GREETER, ...LOUD, ...POLITE }, setup: FIRST_COMMIT },
  releases: {
    files: { ...GREETER, ...EXCLAIM, ...movedTo('', WORLD) },
    setup: `${FIRST_COMMIT}${SECOND_RELEASE}claw apply exclaim
cat >> greeting.mjs <<'END'

export const languages = ['en'];
END
git add -A
git commit -qm 'exclaim, and languages'
`,
  },
};

/** A package under `skills/`, its manifest as people write it. */
function packageFiles(
  name: string,
  { manifest, ...files }: Readonly<Record<string, string>> & { readonly manifest: string },
): Files {
  const all = { ...skillFiles(name, {}), ...files, 'manifest.yaml': manifest };
  return Object.fromEntries(
    Object.entries(all).map(([path, text]) => [`project/skills/${name}/${path}`, text]),
  );
}

/** The same package in another folder. */
function movedTo(folder: string, files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [
      path.replace('project/skills/', folder),
      content,
    ]),
  );
}
