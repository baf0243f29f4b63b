import { expect, test } from 'vitest';
import {
  asksOf,
  languageByHead,
  languageByName,
} from '../../../container/agent/agent-skills/inferred-requirements.ts';
import { beyondHere } from '../../../container/agent/agent-skills/missing-requirements.ts';

const NOTHING = { programs: [], installs: [], hosts: [], secrets: [], files: [], sends: [] };

const TODOIST = `# Todoist
See [the manual](https://developer.todoist.com/rest).

\`\`\`bash
# don't list all
export TODOIST_API_KEY=abc
curl -s -H "Authorization: Bearer $TODOIST_API_KEY" "https://api.todoist.com/rest/v2/tasks" | jq '.[] | .content'
sudo apt-get install -y jq && FOO=1 python3 scripts/x.py
cat <<EOF > ~/.ssh/config
Host somewhere
EOF
for file in *.md; do wc -l "$file"; done
\`\`\`

Then run \`npx cowsay hello\`, read \`~/.aws/credentials\`, and send an email to your boss. Use send_message.
`;

test('programs, installations, hosts, secrets, files and what is sent are read from the text', () => {
  expect(asksOf(TODOIST)).toEqual({
    programs: ['curl', 'jq', 'apt-get', 'python3', 'cat', 'wc', 'npx'],
    installs: ['sudo apt-get install -y jq', 'npx cowsay'],
    hosts: ['api.todoist.com', 'developer.todoist.com'],
    secrets: ['TODOIST_API_KEY'],
    files: ['~/.ssh/config', '~/.aws/credentials'],
    sends: ['mail', 'send_message'],
  });
});

test.each<[string, string, object]>([
  ['plain words', 'Send the list to nobody. Decide, then write it into tasks.md.', {}],
  ['a letter in a block', '```\nDecided on 3 May\nWould you do it again?\n```', {}],
  [
    'commands in a block without a name',
    '```\n$ curl https://a.test/x\nok\n```',
    { programs: ['curl'], hosts: ['a.test'] },
  ],
  ['a block that never ends', '```sh\nrsync a b', { programs: ['rsync'] }],
  [
    'a program in another language',
    '```python\nrequests.get("https://b.test")\n```',
    { hosts: ['b.test'] },
  ],
  [
    'an address by numbers',
    '`wget http://203.0.113.9/x.sh`',
    { programs: ['wget'], hosts: ['203.0.113.9'] },
  ],
  ['a name and a password in a link', '<https://u:p@c.test/>', { hosts: ['c.test'] }],
  ['a folder above the own one', '`cp a ../../other/b`', { files: ['../../other/b'] }],
  [
    'files of the system',
    '```sh\ncat /etc/passwd\n```',
    { programs: ['cat'], files: ['/etc/passwd'] },
  ],
  ['a post in a channel', 'Post a message to the team’s channel.', { sends: ['messages'] }],
  [
    'an upload',
    '```sh\ncurl -F file=@x https://d.test\n```',
    { programs: ['curl'], hosts: ['d.test'], sends: ['uploads'] },
  ],
  [
    'localhost and examples',
    '`curl http://localhost:3000` and https://example.com/a',
    { programs: ['curl'] },
  ],
])('%s', (_what, text, expected) => {
  expect(asksOf(text)).toEqual({ ...NOTHING, ...expected });
});

test('a text that asks for hundreds of things tells a dozen of each', () => {
  const many = Array.from(
    { length: 500 },
    (_, at) => `tool${at} https://h${at}.test $K${at}_TOKEN`,
  );
  const asks = asksOf(['```sh', ...many, '```'].join('\n'));
  expect([asks.programs, asks.hosts, asks.secrets].map(({ length }) => length)).toEqual([
    12, 12, 12,
  ]);
});

test('what is not in the container is told, and a program or a variable that is there is not', async () => {
  const here = { env: { PATH: '/bin:/usr/bin', MY_TOKEN: 'x' }, platform: 'linux', tools: [] };
  const asks = asksOf('```sh\nls\nno-such-program $MY_TOKEN $YOUR_TOKEN https://a.test\n```');
  expect(await beyondHere(asks, here)).toEqual([
    'programs (no-such-program)',
    'the network (a.test)',
    'secrets (YOUR_TOKEN)',
  ]);
  expect(await beyondHere(asksOf('Write tasks.md.'), here)).toEqual([]);
});

test('scripts beside it are read too: their programs, hosts, secrets, files and what they send', () => {
  const shell = `#!/bin/bash
set -euo pipefail
fetch() { curl -s "https://s.test/$1"; }
fetch "$S_TOKEN" | jq . > /etc/cron.d/x
`;
  const python = `import smtplib, subprocess, os
subprocess.run(["ffmpeg", "-i", "a"])
os.system("gh pr list")
requests.post("https://p.test", headers={"k": os.environ["P_API_KEY"]})
`;
  const node = "import { execFileSync } from 'node:child_process';\nexecFileSync('git', ['push']);";
  const scripts = [
    { language: 'shell', text: shell },
    { language: 'python3', text: python },
    { language: 'node', text: node },
  ] as const;
  expect(asksOf('Run `scripts/x.sh`.', scripts)).toEqual({
    programs: ['curl', 'jq', 'ffmpeg', 'gh', 'git', 'python3', 'node'],
    installs: [],
    hosts: ['s.test', 'p.test'],
    secrets: ['S_TOKEN', 'P_API_KEY'],
    files: ['/etc/cron.d/x'],
    sends: ['mail'],
  });
});

test.each([
  ['#!/bin/sh\n', 'shell'],
  ['#!/usr/bin/env bash\n', 'shell'],
  ['#!/usr/bin/env -S node --x\n', 'node'],
  ['#!/usr/local/bin/python3.12\n', 'python3'],
  ['#! /usr/bin/perl -w\n', 'perl'],
  ['a list\n', null],
  ['#!/usr/bin/awk -f\n', null],
])('the first line %j is %s', (text, language) => {
  expect(languageByHead(text)).toBe(language);
});

test('a script is told by the end of its name', () => {
  expect(['a.sh', 'b.PY', 'c.mjs', 'd.md', 'e'].map(languageByName)).toEqual([
    'shell',
    'python3',
    'node',
    null,
    null,
  ]);
});
