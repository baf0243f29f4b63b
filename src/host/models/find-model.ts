import { nearestModel } from '../../model/catalog/nearest-model.ts';
import type { ChatModels } from './chat-models.ts';

/** The outcome of looking for what the owner has typed. */
export type FoundModel =
  | { readonly kind: 'found'; readonly name: string; readonly note: string }
  /** Several models fit; the owner names one. */
  | { readonly kind: 'several'; readonly names: readonly string[] }
  | { readonly kind: 'none'; readonly text: string };

const LONGEST = 250;

/**
 * Finds a model by what was typed: its whole name, the name without the prefix, or a part of it.
 *
 * A whole name that is in no list is asked for one word, since servers do not list every name that they take.
 */
export async function findModel(models: ChatModels, typed: string): Promise<FoundModel> {
  if (typed.length > LONGEST) {
    return { kind: 'none', text: 'No model has so long a name. `/model` lists what there is.' };
  }
  if (models.numbersOf(typed) !== null) return await checked(models, typed);
  const names = (await models.lists('now')).flatMap((list) => list.names);
  const wanted = typed.toLowerCase();
  const whole = names.filter((name) => name.toLowerCase().endsWith(`/${wanted}`));
  const [only] = whole;
  if (only !== undefined && whole.length === 1) return { kind: 'found', name: only, note: '' };
  const fitting = names.filter((name) => name.toLowerCase().includes(wanted));
  if (fitting.length > 0) return { kind: 'several', names: fitting };
  const nearest = nearestModel(typed, names);
  const hint = nearest === null ? '`/model` lists what there is.' : `Did you mean \`${nearest}\`?`;
  return { kind: 'none', text: `No model here is called ${typed}. ${hint}` };
}

async function checked(models: ChatModels, name: string): Promise<FoundModel> {
  const listing = await models.look(name, 'now');
  if (listing.kind === 'listed') return { kind: 'found', name, note: '' };
  const problem = await models.tryOut(name);
  if (problem === null) {
    const note = listing.kind === 'missing' ? ' Its server does not list it, and it answers.' : '';
    return { kind: 'found', name, note };
  }
  const nearest = listing.kind === 'missing' ? listing.nearest : null;
  const hint = nearest === null ? '' : ` The nearest there is \`${nearest}\`.`;
  return { kind: 'none', text: `${problem}${hint} Nothing was changed.` };
}
