import type { Tree } from '@patchclaw/merge';
import { stringify } from 'yaml';

type Fixture = {
  readonly name?: string;
  readonly add?: Readonly<Record<string, string>>;
  readonly modify?: Readonly<Record<string, string>>;
  /** Any other files of the package, by their path in it. */
  readonly files?: Readonly<Record<string, string>>;
  /** Keys of the manifest beside those that follow from the files. */
  readonly manifest?: Readonly<Record<string, unknown>>;
};

/** Returns the manifest text of a small skill for tests, with any key replaced or added. */
export function manifestText(keys: Readonly<Record<string, unknown>> = {}): string {
  return stringify({
    skill: 'demo',
    version: '1.0.0',
    description: 'A demonstration',
    core_version: '0.1.0',
    adds: [],
    modifies: [],
    ...keys,
  });
}

/** Returns the files of a small skill package for tests, with a manifest that declares them. */
export function packageFiles(fixture: Fixture = {}): Tree {
  const { name = 'demo', add = {}, modify = {}, files = {}, manifest = {} } = fixture;
  const text = manifestText({
    skill: name,
    adds: Object.keys(add),
    modifies: Object.keys(modify),
    ...manifest,
  });
  const all = {
    'manifest.yaml': text,
    ...prefixed('add', add),
    ...prefixed('modify', modify),
    ...files,
  };
  return new Map(
    Object.entries(all).map(([path, content]) => [
      path,
      { bytes: Buffer.from(content), isExecutable: false },
    ]),
  );
}

function prefixed(
  folder: string,
  files: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]),
  );
}
