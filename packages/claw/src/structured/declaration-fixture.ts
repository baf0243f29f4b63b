import type { Declaration, LayerDeclarations } from './declaration.ts';

type Fixture = {
  readonly npm?: Readonly<Record<string, string>>;
  readonly npmOverrides?: readonly string[];
  readonly env?: readonly (
    | string
    | { name: string; description?: string; example?: string; secret?: boolean }
  )[];
  readonly services?: Readonly<Record<string, unknown>>;
  readonly imageNpm?: Readonly<Record<string, string>>;
  readonly apt?: readonly string[];
};

/** Returns a layer's declarations for tests; whatever is left out is not declared. */
export function declaration(layer: string, fixture: Fixture): Declaration {
  const structured: LayerDeclarations = {
    npmDependencies: fixture.npm ?? {},
    npmOverrides: fixture.npmOverrides ?? [],
    envAdditions: (fixture.env ?? []).map((entry) => ({
      name: typeof entry === 'string' ? entry : entry.name,
      description: typeof entry === 'string' ? null : (entry.description ?? null),
      example: typeof entry === 'string' ? null : (entry.example ?? null),
      isSecret: typeof entry === 'string' ? false : (entry.secret ?? false),
    })),
    composeServices: fixture.services ?? {},
    container: { npmDependencies: fixture.imageNpm ?? {}, aptPackages: fixture.apt ?? [] },
  };
  return { layer, structured };
}
