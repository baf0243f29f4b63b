const UP_TO_3_WORDS = "(?:[\\w'’-]+\\s+){0,3}?";
const EARLIER = '(?:previous|above|prior|earlier|preceding|foregoing|all|any|your|these|those|the)';
const ORDERS =
  '(?:instructions?|prompts?|rules|orders|directions|directives|guidelines|programming|constraints|restrictions)';

/** Texts with which assistants are talked out of what they are for. */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  ignore: pattern(
    `\\b(?:ignore|override|bypass)\\s+${UP_TO_3_WORDS}${EARLIER}\\s+${UP_TO_3_WORDS}${ORDERS}\\b`,
  ),
  disregard: pattern(`\\bdisregard\\s+${UP_TO_3_WORDS}${EARLIER}\\s+${UP_TO_3_WORDS}${ORDERS}\\b`),
  forget: pattern(
    `(?<!\\b(?:don't|don’t|dont|not|never|i|we|you)\\s)\\bforget\\s+(?:everything\\s+(?:you|above|before|i)|${UP_TO_3_WORDS}${EARLIER}\\s+${UP_TO_3_WORDS}${ORDERS})\\b`,
  ),
  'new role': pattern(
    `\\bsystem\\s*:\\s*you\\s+are\\b|\\byou\\s+are\\s+(?:now|no\\s+longer)\\s+${UP_TO_3_WORDS}(?:ai|assistant|model|chatbot|dan|jailbroken|unrestricted|unfiltered)\\b|\\b(?:pretend|act\\s+as\\s+if)\\s+(?:that\\s+)?you\\s+(?:have|had)\\s+no\\s+${ORDERS}`,
  ),
  'begin of a turn': pattern(
    '<\\|?\\s*(?:im_start|start_header_id|begin_of_text|start_of_turn|system)\\s*\\|?>|\\[inst\\]|<<sys>>',
  ),
  'end of a turn': pattern(
    '<\\|?\\s*(?:im_end|eot_id|end_header_id|endoftext|end_of_turn)\\s*\\|?>|\\[/inst\\]|<</sys>>',
  ),
  heading: pattern(
    '^[ \\t]{0,20}#{2,}[ \\t]{0,20}(?:(?:new|system|updated)[ \\t]+)?(?:instructions?|system(?:[ \\t]+prompt)?)[ \\t]*(?::[ \\t]*)?$',
    'm',
  ),
  'secret prompt': pattern(
    `\\b(?:reveal|show|print|repeat|output|display|leak|tell\\s+me)\\s+${UP_TO_3_WORDS}(?:system|hidden|initial|secret|internal)\\s+(?:prompt|instructions?|message)\\b`,
  ),
  'behind the back': pattern(
    `\\b(?:do\\s+not|don't|don’t|dont|never|without)\\s+(?:tell|telling|inform|informing|notify|notifying|ask|asking|alert|alerting)\\s+(?:the\\s+|your\\s+)?(?:owner|user|human|operator|admin)\\b`,
  ),
};

/** A text that reads like an order to an assistant, and by which of the nine patterns. */
export type Finding = { readonly pattern: string; readonly words: string };

/** Returns what in a text reads like an order to an assistant, one for each pattern. */
export function ordersIn(text: string): readonly Finding[] {
  return Object.entries(PATTERNS).flatMap(([name, expression]): Finding[] => {
    const [words] = expression.exec(text) ?? [];
    return words === undefined ? [] : [{ pattern: name, words: words.replace(/\s+/g, ' ').trim() }];
  });
}

/** Tells whether a text has a line that looks like a note of a filter's. */
export function imitatesNote(text: string): boolean {
  return /^[ \t]*\[(?:sanitizer|size|guard|host|system)\s*:/im.test(text);
}

function pattern(source: string, flags = ''): RegExp {
  return new RegExp(source, `iu${flags}`);
}
