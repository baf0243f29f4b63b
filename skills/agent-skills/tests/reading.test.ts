import { expect, test } from 'vitest';
import { parseSkillFile } from '../../../container/agent/agent-skills/front-matter.ts';

const NOTHING = { bins: [], anyBins: [], env: [], tools: [], anyTools: [], os: [] };

test('the front matter of the public format is read, several lines of description as one', () => {
  const text = `---
name: pdf-forms
description: >
  Fills in PDF forms.
  Use when a form arrives.
license: Apache-2.0
compatibility: Needs poppler
allowed-tools: Bash(pdftk:*) Read
metadata:
  author: someone
  version: "1.0"
requires:
  bins: [pdftk]
  env: FORM_DIR
---

# Forms
`;
  expect(parseSkillFile(text, 'other')).toEqual({
    name: 'pdf-forms',
    description: 'Fills in PDF forms. Use when a form arrives.',
    always: false,
    requires: { ...NOTHING, bins: ['pdftk'], env: ['FORM_DIR'] },
    license: 'Apache-2.0',
    compatibility: 'Needs poppler',
    allowedTools: 'Bash(pdftk:*) Read',
    body: '# Forms',
    note: null,
  });
});

test('a byte order mark, CRLF and lone CR are read like any line end', () => {
  const lines = [
    '---',
    'name: a',
    'description: |',
    '  One.',
    '  Two.',
    'always: true',
    '---',
    'Text',
  ];
  for (const end of ['\r\n', '\r', '\n']) {
    const read = parseSkillFile(`\uFEFF${lines.join(end)}`, 'x');
    expect(read).toMatchObject({ name: 'a', description: 'One. Two.', always: true, body: 'Text' });
  }
});

test('front matter that is no YAML is read by lines, and noted', () => {
  const text = `---
name: "loud"
description: Use when: somebody says "louder": or shouts
  across the room
bad: [unclosed
---
Text`;
  expect(parseSkillFile(text, 'x')).toMatchObject({
    name: 'loud',
    description: 'Use when: somebody says "louder": or shouts across the room',
    note: 'its front matter is not a valid YAML, and was read by lines',
  });
});

test('without front matter, folder and first words stand for name and description', () => {
  const read = parseSkillFile('# Tea\n\n## How\n\nBoil water\nfirst.\n\nThen wait.', 'tea');
  expect(read).toMatchObject({ name: 'tea', description: 'Boil water first.' });
  expect(read.note).toBe('it has no front matter');
  // A rule at the top of a text is no front matter, and one that never ends is text.
  expect(parseSkillFile('---\nname: x\nno end', 'tea').name).toBe('tea');
  expect(() => parseSkillFile('---\n---\n', 'tea')).toThrow('it has no description');
  expect(() => parseSkillFile('', 'tea')).toThrow('it has no description');
});

test('what other assistants say below their names in metadata counts', () => {
  const json = `---
name: gh
description: d
metadata: {"openclaw": {"emoji": "x", "requires": {"bins": ["gh"], "anyBins": ["a", "b"]}, "os": ["darwin"], "always": true}}
---`;
  const inString = `---
name: gh
description: d
metadata: '{"bot": {"requires": {"env": ["GH_TOKEN"]}}}'
---`;
  expect(parseSkillFile(json, 'x')).toMatchObject({
    always: true,
    requires: { ...NOTHING, bins: ['gh'], anyBins: ['a', 'b'], os: ['darwin'] },
  });
  expect(parseSkillFile(inString, 'x').requires).toEqual({ ...NOTHING, env: ['GH_TOKEN'] });
});

test('values of a wrong kind demand nothing, and a name that is not a name is the folder’s', () => {
  const text = `---
name: "../../etc/passwd"
description: [Reads, things]
always: maybe
license: { a: b }
requires: { bins: [1, "rm -rf /", curl], env: 7, tools: null }
metadata: [1, 2]
---`;
  expect(parseSkillFile(text, 'safe')).toMatchObject({
    name: 'safe',
    description: 'Reads things',
    always: false,
    license: null,
    requires: { ...NOTHING, bins: ['curl'] },
  });
  expect(
    parseSkillFile(`---\nname: a\ndescription: ${'x'.repeat(5_000)}\n---`, 'a').description,
  ).toHaveLength(1_024);
});
