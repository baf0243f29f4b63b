const SKILL_MD = `---
name: greeting
description: Says hello
---
# Greeting

Greets people.

## Set it up

Put \`GREETING_WORD\` into \`.env\`.

## More

Nothing.
`;

/** A skill that adds one file and one setting; with packages, it has to be asked for. */
export function greetingSkill(name: string, npm = ''): Record<string, string> {
  return {
    [`skills/${name}/manifest.yaml`]: [
      `skill: ${name}`,
      'version: 1.2.0',
      'description: Says hello',
      'core_version: 0.1.0',
      `adds: [src/${name}.txt]`,
      'modifies: []',
      'structured:',
      npm,
      '  env_additions: [GREETING_WORD]',
      '',
    ]
      .filter((line) => line !== '')
      .join('\n'),
    [`skills/${name}/SKILL.md`]: SKILL_MD,
    [`skills/${name}/add/src/${name}.txt`]: 'hello\n',
  };
}

/** A project with a skill that is applied at a word, and one that has to be asked for. */
export const PROJECT = {
  'package.json': '{ "name": "demo", "version": "0.1.0" }\n',
  'src/main.txt': 'main\n',
  ...greetingSkill('greeting'),
  ...greetingSkill('packed', '  npm_dependencies: { left-pad: ^1.0.0 }'),
};
