import * as engine from '../../../packages/claw/src/index.ts';

/** A verb as the library takes it. */
export type Call = {
  readonly kind:
    | 'apply'
    | 'remove'
    | 'upgrade'
    | 'update'
    | 'customize'
    | 'rebase'
    | 'undo'
    | 'replay';
  readonly names: readonly string[];
};

/**
 * Carries a verb out that dies, or stands still, at the n-th change that it makes to the disk.
 *
 * @returns false where it was done before
 */
export type Killer = (root: string, call: Call, nth: number) => Promise<boolean>;

/** The library's view of a codebase; a yes is assumed, and nothing of the environment is known. */
export function contextAt(root: string): engine.EngineContext {
  return {
    root,
    cwd: root,
    now: () => new Date(),
    environment: {},
    onProgress: () => {},
    allow: [],
    confirm: null,
  };
}

export async function carryOut(
  context: engine.EngineContext,
  { kind, names }: Call,
): Promise<engine.VerbResult> {
  const [first = ''] = names;
  switch (kind) {
    case 'apply':
      return await engine.apply(context, names);
    case 'remove':
      return await engine.remove(context, names);
    case 'upgrade':
      return await engine.upgrade(context, names);
    case 'update':
      return await engine.update(context, first, { release: null });
    case 'customize':
      return await engine.customize(context, first);
    case 'rebase':
      return await engine.rebase(context);
    case 'undo':
      return await engine.undo(context);
    case 'replay':
      return await engine.replay(context);
  }
}
