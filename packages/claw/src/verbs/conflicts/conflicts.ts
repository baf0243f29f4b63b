import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Decision, decisionOn } from '../../compose/resolve-conflict.ts';
import { suggestionsFor } from '../../compose/suggestions.ts';
import type { Conflict } from '../../conflict.ts';
import { resultOf, type VerbResult } from '../../contract/result.ts';
import { answersTemplate } from '../../decisions/answers.ts';
import { canBeDecided, isFinished } from '../../decisions/decide.ts';
import { rolesIn, takeWords } from '../../decisions/named-side.ts';
import { layerNote } from '../../decisions/places/layer-note.ts';
import { placesIn } from '../../decisions/places/places.ts';
import { waysOf } from '../../decisions/places/ways.ts';
import { shownDecision } from '../../decisions/shown-decision.ts';
import { readResolutions } from '../../installed/resolution-file.ts';
import { readState, stateDigest } from '../../installed/state-file.ts';
import type { EngineContext } from '../../operation/context.ts';
import { notesPath } from '../../pending/files.ts';
import { PENDING, type Pending } from '../../pending/pending.ts';
import { readWaiting } from '../../pending/waiting.ts';

/**
 * Returns the operation that waits, with its conflicts, what is decided, and recordings that may fit.
 *
 * @param options with `answers` also a file of answers to fill in, as `data.answers`
 */
export function conflicts(
  { root }: EngineContext,
  { answers = false }: { readonly answers?: boolean } = {},
): VerbResult<'conflicts'> {
  const waiting = readWaiting(root);
  if (waiting === null)
    return resultOf('conflicts', 'done', { data: { operation: null, open: [] } });
  const { pending, decisions } = waiting;
  const state = readState(root);
  const recordings = readResolutions(root, state);
  const roles = rolesIn(pending, state);
  const details = waiting.conflicts.map((conflict) => ({
    ...notesOn(root, conflict),
    path: conflict.path,
    ...decided(conflict, decisionOn(conflict, decisions)),
    decidable: canBeDecided(conflict),
    takes: [...takeWords(conflict, roles)],
    places: placesIn(conflict),
    ways: waysOf(conflict).map(({ rule, label }) => ({ rule, label })),
    sizes: {
      ours: conflict.sides.ours?.bytes.length ?? null,
      theirs: conflict.sides.theirs?.bytes.length ?? null,
    },
    text: conflict.hunks.length > 0 ? `${PENDING}/${conflict.path}` : null,
    values: conflict.values,
    edited: isFinished(root, conflict),
    candidates: conflict.candidates ?? [],
    offers: suggestionsFor(conflict, recordings).map(({ key, origin }) => ({ key, origin })),
  }));
  const data = {
    operation: { verb: pending.verb, arguments: pending.arguments },
    open: details.filter((one) => !one.decided).map(({ path }) => path),
    installed: {
      state: stateDigest(root),
      layers: state?.layers.map(({ name }) => name) ?? [],
    },
    details,
    ...(answers
      ? { answers: answersTemplate(nameOf(pending), waiting.conflicts, decisions, roles) }
      : {}),
  };
  return resultOf('conflicts', 'done', { data, conflicts: waiting.conflicts });
}

function nameOf({ verb, arguments: args }: Pending): string {
  return [verb, ...args].join(' ');
}

function decided(conflict: Conflict, decision: Decision | null) {
  return decision === null
    ? { decided: false, decision: null }
    : { decided: true, decision: shownDecision(conflict, decision) };
}

function notesOn(root: string, conflict: Conflict) {
  const notes = readNotes(root, conflict);
  const [ours, theirs] = conflict.layers;
  return { notes, keeps: { ours: layerNote(notes, ours), theirs: layerNote(notes, theirs) } };
}

/** Reads the notes of both sides' authors on the file, as laid out beside the conflict. */
function readNotes(root: string, conflict: Conflict): string | null {
  const place = join(root, PENDING, notesPath(conflict));
  return existsSync(place) ? readFileSync(place, 'utf8') : null;
}
