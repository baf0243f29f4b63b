import { z } from 'zod';
import { ClawError } from '../../errors.ts';
import { filesByRole } from '../checks/contents.ts';
import type { Manifest } from './manifest.ts';
import { parsePlainYaml } from './plain-yaml.ts';

const LIMITS = { sizeBytes: 64 * 1024, depth: 16 };

const Names = z.array(z.string());
const Ranges = z.record(z.string(), z.string());

const EnvAddition = z.preprocess(
  (entry) => (typeof entry === 'string' ? { name: entry } : entry),
  z.strictObject({
    name: z.string(),
    description: z.string().optional(),
    example: z.string().optional(),
    secret: z.boolean().default(false),
    optional: z.boolean().default(false),
  }),
);

const FileOp = z.discriminatedUnion('type', [
  z.strictObject({ type: z.enum(['rename', 'move']), from: z.string(), to: z.string() }),
  z.strictObject({ type: z.literal('delete'), path: z.string() }),
]);

const Structured = z.strictObject({
  npm_dependencies: Ranges.default({}),
  npm_overrides: Ranges.default({}),
  env_additions: z.array(EnvAddition).default([]),
  docker_compose_services: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  container: z
    .strictObject({ npm_dependencies: Ranges.default({}), apt_packages: Names.default([]) })
    .default({ npm_dependencies: {}, apt_packages: [] }),
});

const Oid = z.string().regex(/^[0-9a-f]{40,64}$/, 'is not an id of git');
const Origin = z.strictObject({
  of: z.templateLiteral(['sha256:', z.string().regex(/^[0-9a-f]{64}$/)]),
  patch: Oid.nullable(),
  commits: z.record(Oid, Oid.nullable()),
});

const ManifestFile = z.strictObject({
  skill: z.string(),
  version: z.string(),
  description: z.string(),
  core_version: z.string(),
  adds: Names.optional(),
  modifies: Names.optional(),
  file_ops: z.array(FileOp).default([]),
  depends: Names.default([]),
  conflicts: Names.default([]),
  structured: Structured.prefault({}),
  test: Names.optional(),
  origin: Origin.nullable().default(null),
});

/**
 * Reads the shape of `manifest.yaml`: what is there has the right type, and nothing else is there.
 * Whether names, versions, paths and declarations are acceptable is not looked at yet.
 *
 * A manifest need not list the package's files: `adds`, `modifies` and `test` are then what lies below `add/`,
 * `modify/` and `tests/`.
 *
 * @param paths the files of the package, by their path in it
 * @throws ClawError YAML_INVALID, LIMIT_EXCEEDED, SCHEMA_INVALID with the path inside the file
 */
export function readManifest(source: Buffer | string, paths: Iterable<string> = []): Manifest {
  const raw = translateNanoClaw(parsePlainYaml(source, 'manifest.yaml', LIMITS));
  const parsed = ManifestFile.safeParse(raw);
  if (!parsed.success) throw schemaError(parsed.error.issues);
  const file = parsed.data;
  const found = filesByRole(paths);
  refuseTwice(file.structured);
  return {
    skill: file.skill,
    version: file.version,
    description: file.description,
    coreVersion: file.core_version,
    adds: file.adds ?? found.adds,
    modifies: file.modifies ?? found.modifies,
    fileOps: file.file_ops,
    depends: file.depends.map(parseDependence),
    conflicts: file.conflicts,
    structured: toStructured(file.structured),
    test: file.test ?? found.tests,
    origin: file.origin,
  };
}

function refuseTwice({ npm_dependencies, npm_overrides }: z.output<typeof Structured>): void {
  const name = Object.keys(npm_overrides).find((one) => Object.hasOwn(npm_dependencies, one));
  if (name === undefined) return;
  const path = `manifest.yaml:structured.npm_overrides.${name}`;
  throw new ClawError('SCHEMA_INVALID', `${path}: is named among npm_dependencies as well.`, {
    path,
  });
}

function toStructured(file: z.output<typeof Structured>): Manifest['structured'] {
  return {
    npmDependencies: { ...file.npm_dependencies, ...file.npm_overrides },
    npmOverrides: Object.keys(file.npm_overrides),
    envAdditions: file.env_additions.map((entry) => ({
      name: entry.name,
      description: entry.description ?? null,
      example: entry.example ?? null,
      isSecret: entry.secret,
      isOptional: entry.optional,
    })),
    composeServices: file.docker_compose_services,
    container: {
      npmDependencies: file.container.npm_dependencies,
      aptPackages: file.container.apt_packages,
    },
  };
}

function parseDependence(text: string): Manifest['depends'][number] {
  const at = text.indexOf('@');
  return at === -1
    ? { name: text, range: '*' }
    : { name: text.slice(0, at), range: text.slice(at + 1) };
}

function schemaError(issues: readonly z.core.$ZodIssue[]): ClawError {
  const [issue] = issues;
  const parts = [...(issue?.path ?? [])];
  if (issue?.code === 'unrecognized_keys') parts.push(...issue.keys.slice(0, 1));
  const path = ['manifest.yaml', parts.join('.')].filter((part) => part !== '').join(':');
  return new ClawError('SCHEMA_INVALID', `${path}: ${reasonOf(issue)}.`, {
    path,
    data: { issues: issues.map(({ path: at, message }) => ({ path: at.join('.'), message })) },
  });
}

function reasonOf(issue: z.core.$ZodIssue | undefined): string {
  const message = issue?.message ?? 'does not fit';
  return message.endsWith('received undefined') ? 'is missing' : message;
}

// Keys that NanoClaw's manifests have beyond ours, and that change nothing.
const DOCUMENTATION_KEYS = ['author', 'license', 'min_skills_system_version', 'tested_with'];

const TEST_RUNNERS = [
  ['npx', 'vitest', 'run'],
  ['npx', 'vitest'],
  ['vitest', 'run'],
  ['vitest'],
  ['node', '--test'],
];

/**
 * Translates the keys of NanoClaw's manifests into ours, before the schema sees them. Documenting keys are
 * left out, and a test command that names files becomes the list of these files.
 *
 * @throws ClawError SCHEMA_INVALID for `post_apply` and for any other command, which would run code that no
 *   test and no plan can show
 */
function translateNanoClaw(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  const entries = Object.entries(raw).filter(([key]) => !DOCUMENTATION_KEYS.includes(key));
  if (entries.some(([key]) => key === 'post_apply')) {
    throw refusal(
      'post_apply',
      'commands after applying are not run: declare packages, settings and services under ' +
        '`structured`, and put anything else into SKILL.md as a step for the owner',
    );
  }
  return Object.fromEntries(
    entries.map(([key, value]) =>
      key === 'test' && typeof value === 'string' ? [key, testFiles(value)] : [key, value],
    ),
  );
}

function testFiles(command: string): readonly string[] {
  const words = command.trim().split(/\s+/);
  const runner = TEST_RUNNERS.find((prefix) => prefix.every((word, at) => words[at] === word));
  const files = words.slice(runner?.length ?? 0);
  const isPlain = files.length > 0 && files.every((word) => /^[\w@.][\w@./+-]*$/.test(word));
  if (runner === undefined || !isPlain) {
    throw refusal(
      'test',
      `the command \`${command}\` is not run: list the test files instead, as in ` +
        '`test: [tests/demo.test.ts]`; they are handed to the codebase’s own test command',
    );
  }
  return files.map((file) => file.replace(/^\.\//, ''));
}

function refusal(key: string, reason: string): ClawError {
  const path = `manifest.yaml:${key}`;
  return new ClawError('SCHEMA_INVALID', `${path}: ${reason}.`, { path });
}
