/** Steps of an owner for a skill, and what comes with it. */
export type SetUp = {
  readonly settings: readonly {
    readonly name: string;
    readonly description: string | null;
    readonly example: string | null;
  }[];
  /** Commands that ask for settings. */
  readonly commands: readonly string[];
  /** The step after which a running program has the skill, as a sentence without capital and stop; null for none. */
  readonly restart: string | null;
  /** Names of compose services. */
  readonly services: readonly string[];
  /** Name → range. */
  readonly npmPackages: Readonly<Record<string, string>>;
  /** Packages of a container's image. */
  readonly imagePackages: readonly string[];
};

/** Writes SKILL.md of a fresh package: its purpose, and the owner's steps. */
export function skillPage(name: string, description: string, setUp: SetUp): string {
  const brought = broughtOf(setUp);
  const parts = [
    `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---`,
    `# ${name}`,
    description,
    '## Set-up',
    stepsOf(setUp),
    ...(brought === null ? [] : [brought]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function stepsOf({ settings, commands, services, restart }: SetUp): string {
  const last = restart === null ? [] : [`Restart: ${restart}.`];
  const lines = settings.map(({ name, description, example }) => {
    const words = [sentence(description), example === null ? '' : `For example \`${example}\`.`];
    const said = words.filter((word) => word !== '').join(' ');
    return `   - \`${name}\`${said === '' ? '' : `: ${said}`}`;
  });
  const runs = commands.map((command) => `\`${command}\``).join(' and ');
  const head = [
    ...(commands.length === 0 ? [] : [`Run ${runs}, which asks for what is needed.`]),
    ...(lines.length === 0
      ? []
      : [commands.length === 0 ? 'Its settings are in `.env`:' : 'By hand it is in `.env`:']),
  ];
  const steps = [
    ...(head.length === 0 ? [] : [[head.join(' '), ...lines].join('\n')]),
    ...(services.length === 0
      ? []
      : [`Start what it needs beside it: \`docker compose up -d ${services.join(' ')}\`.`]),
  ];
  if (steps.length > 0)
    return [...steps, ...last].map((step, at) => `${at + 1}. ${step}`).join('\n');
  return [
    'Nothing has to be set up.',
    ...(restart === null ? [] : [`What runs already takes it in after a restart: ${restart}.`]),
  ].join(' ');
}

function broughtOf({ npmPackages, imagePackages }: SetUp): string | null {
  const npm = Object.entries(npmPackages).map(([name, range]) => `\`${name}\` (${range})`);
  const image = imagePackages.map((name) => `\`${name}\``);
  const parts = [
    ...(npm.length === 0 ? [] : [`the npm ${plural(npm)} ${npm.join(', ')}`]),
    ...(image.length === 0
      ? []
      : [`in the image of containers the ${plural(image)} ${image.join(', ')}`]),
  ];
  return parts.length === 0 ? null : `Installed with it: ${parts.join('; ')}.`;
}

function plural(list: readonly string[]): string {
  return list.length === 1 ? 'package' : 'packages';
}

/** Returns a description as one line that ends with a stop. */
function sentence(text: string | null): string {
  const line = (text ?? '').replace(/\s*\n\s*/g, ' ').trim();
  return line === '' || /[.!?]$/.test(line) ? line : `${line}.`;
}
