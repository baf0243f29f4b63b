import { composeServices } from './compose-file/compose-file.ts';
import { composeContainer } from './container.ts';
import type { Declared, StructuredInput, StructuredResult } from './declaration.ts';
import { composeEnv } from './env/env.ts';
import type { StructuredKind } from './kind.ts';
import { composeNpm } from './npm/npm.ts';

/**
 * Recomputes a structured file from the release's and what all layers declare for it.
 *
 * Without a declaration for this file, the release's bytes are the result, untouched. The order of
 * the declarations decides only in which order a conflict names its two layers.
 *
 * @param input declarations in canonical order
 */
export function composeStructured(input: StructuredInput): StructuredResult {
  const { kind } = input;
  const declarations = input.declarations.filter(({ structured }) => isFor(kind, structured));
  if (declarations.length === 0) return { bytes: input.release, conflicts: [], outcome: {} };
  const concerned = { ...input, declarations };
  switch (kind) {
    case 'npm':
      return composeNpm(concerned);
    case 'env':
      return composeEnv(concerned);
    case 'compose':
      return composeServices(concerned);
    case 'container':
      return composeContainer(concerned);
    default:
      return { bytes: input.release, conflicts: [], outcome: {} };
  }
}

function isFor(kind: StructuredKind | null, declared: Declared): boolean {
  switch (kind) {
    case 'npm':
      return Object.keys(declared.npmDependencies).length > 0;
    case 'env':
      return declared.envAdditions.length > 0;
    case 'compose':
      return Object.keys(declared.composeServices).length > 0;
    case 'container':
      return (
        declared.container.aptPackages.length > 0 ||
        Object.keys(declared.container.npmDependencies).length > 0
      );
    default:
      return false;
  }
}
