import { OTHER_GOES_ON, OTHER_HARD, OTHER_SIGNS, type Sign } from '../other-languages.ts';
import { defineStage, type TaskType, type WorkRequest } from '../stage.ts';

/** Signs of each type and what each counts, in English and then in other languages: the type with the most is it. */
const SIGNS: readonly Sign[] = [
  [
    'CodeReview',
    3,
    /\b(code review|review (this|my|the) (code|pr|patch|diff|pull request|function|commit))\b/i,
  ],
  ['CodeReview', 3, /^(diff --git|@@ .* @@|[+-]{3} [ab]\/)/m],
  [
    'CodeReview',
    2,
    /\b(what('s| is) wrong|find (the )?bugs?|why does (this|it) (fail|crash|throw)|refactor)\b/i,
  ],
  [
    'CodeGeneration',
    3,
    /\b(write|create|implement|add|fix|generate|program|code)\b.{0,40}\b(function|class|script|program|code|regex|query|sql|component|unit tests?|endpoint|api|module|bug)\b/i,
  ],
  [
    'CodeGeneration',
    1,
    /\b(typescript|javascript|python|rust|java|golang|bash|sql|html|css|regex)\b/i,
  ],
  ['CodeGeneration', 1, /```/],
  [
    'Research',
    3,
    /\b(research|look up|find out|search (for|the web)|sources? (for|on)|latest (news|on)|what do we know about)\b/i,
  ],
  ['Research', 1, /\b(who (is|was|invented)|when (did|was)|where (is|was)|history of)\b/i],
  ['Research', 2, /https?:\/\//i],
  [
    'Creative',
    3,
    /\b(write|compose|make up|tell)\b.{0,30}\b(poem|story|song|lyrics|joke|limerick|haiku|toast|speech|slogan|tale)\b/i,
  ],
  ['Creative', 2, /\b(brainstorm|imagine|invent|rhyme|in the style of|name ideas?)\b/i],
  [
    'Analysis',
    3,
    /\b(analy[sz]e|compare|evaluate|pros and cons|trade-?offs?|root cause|summari[sz]e|estimate|forecast)\b/i,
  ],
  ['Analysis', 1, /\b(why|how come|calculate|difference between|explain|statistics|numbers)\b/i],
  [
    'ToolUse',
    3,
    /\b(remind me|schedule|every (day|morning|evening|week|hour|monday)|set (a|an) (timer|alarm|reminder)|cancel (the|that|my) task)\b/i,
  ],
  [
    'ToolUse',
    2,
    /\b(run|execute|open|read|save|rename|move|delete|send|download|list)\b.{0,30}\b(file|files|folder|command|message|task|tasks|directory|page)\b/i,
  ],
  [
    'Chat',
    1,
    /^(hi|hello|hey|thanks|thank you|good (morning|evening|night)|how are you|ok|okay|yes|no)\b/i,
  ],
  ...OTHER_SIGNS,
];

/** A message that only makes sense after the one before. */
const GOES_ON =
  /^(go on|continue|again|once more|do (it|that)|and (now|then)|next|retry|try again)\b/i;

const HARD =
  /\b(why|compare|prove|design|architecture|optimi[sz]e|step by step|in detail|trade-?offs?|carefully|thorough(ly)?|all (cases|edge cases)|refactor|migrate)\b/gi;

/** Longer messages without any sign are not taken for small talk. */
const TALK_WORDS = 40;

/** Tells the kind of work by words, shape, files, and the tools called before. It asks no model. */
export const stage = defineStage({
  name: 'rules',
  stage: 'classify',
  run(request) {
    const type = typeOf(request);
    return { type, complexity: complexityOf(request, type) };
  },
});

function typeOf({ text, files, toolsBefore }: WorkRequest): TaskType {
  if (text.trim() === '') return 'Unknown';
  const begin = text.trim();
  const goesOn = GOES_ON.test(begin) || OTHER_GOES_ON.test(begin);
  if (toolsBefore.length > 0 && goesOn) return 'ToolUse';
  const points = new Map<TaskType, number>();
  for (const [type, count, sign] of SIGNS) {
    if (sign.test(text)) points.set(type, (points.get(type) ?? 0) + count);
  }
  // A question about a file of data or a document.
  if (files.length > 0) points.set('Analysis', (points.get('Analysis') ?? 0) + 1);
  const [best] = [...points].toSorted(([, one], [, other]) => other - one);
  if (best !== undefined) return best[0];
  return wordsIn(text) <= TALK_WORDS ? 'Chat' : 'Unknown';
}

const EASY: Readonly<Record<TaskType, number>> = {
  Chat: 0,
  Unknown: 0.1,
  ToolUse: 0.1,
  Creative: 0.15,
  Research: 0.2,
  Analysis: 0.25,
  CodeReview: 0.3,
  CodeGeneration: 0.3,
};

/** Adds up the type, the length, words that ask for thought, several questions or points, code and files. */
function complexityOf({ text, files }: WorkRequest, type: TaskType): number {
  const length = Math.min(0.3, Math.log2(1 + wordsIn(text) / 20) / 12);
  const hard = Math.max(text.match(HARD)?.length ?? 0, text.match(OTHER_HARD)?.length ?? 0);
  const thought = Math.min(0.2, hard * 0.07);
  const points = text.match(/\?|^[ \t]*(?:[-*•]|\d+[.)])\s/gm)?.length ?? 0;
  const parts = Math.min(0.15, Math.max(0, points - 1) * 0.05);
  const code = /```|^diff --git/m.test(text) ? 0.1 : 0;
  const attached = Math.min(0.1, files.length * 0.05);
  const sum = EASY[type] + length + thought + parts + code + attached;
  return Math.round(Math.min(1, sum) * 100) / 100;
}

function wordsIn(text: string): number {
  return text.trim().split(/\s+/).length;
}
