/** More than people write: the patterns below are not tried on it. */
const LONGEST_LINE = 500;
/** A line that introduces a quotation may be folded by the client. */
const FOLDED_LINES = 3;

/** `On Monday Ada wrote:` in the languages of the usual clients. */
const INTRODUCTIONS: readonly RegExp[] = [
  /^(on|op|le|el|il|am|em|den|dne|dňa|w dniu|w dniach|pe|på|tarihinde|в|du)\s.{4,400}\b(wrote|schreef|geschreven|a écrit|escribió|ha scritto|schrieb|escreveu|skrev|kirjoitti|napsal\(a\)|napsala?|napísal\(a\)|napisała?|napisał\(a\)|pisze|scris|yazdı|пишет|написала?|написав)\b.{0,120}:\s*$/iu,
  /^.{4,300}(wrote|schrieb|a écrit|escribió|ha scritto|escreveu|skrev|kirjoitti|pisze|написал\(а\)|написала?|пишет|napisał\(a\)|schreef|yazdı)\s*:\s*$/iu,
  /^.{4,300}(写道|寫道|のメール|さんは書きました|님이 작성|작성했습니다)\s*[:：]\s*$/u,
  /^\d{4}[年/-].{4,200}<[^<>\s]+@[^<>\s]+>\s*[:：]\s*$/u,
];
/** Outlook's rules, and those of its kind. */
const SEPARATORS =
  /^(-{2,}|_{2,})\s*(original message|original appointment|ursprüngliche nachricht|message d'origine|message d’origine|mensaje original|messaggio originale|mensagem original|oorspronkelijk bericht|ursprungligt meddelande|originalmeddelande|oprindelig meddelelse|oprindelig besked|opprinnelig melding|alkuperäinen viesti|wiadomość oryginalna|původní zpráva|исходное сообщение|原始邮件|元のメッセージ)\s*(-{2,}|_{2,})\s*$/iu;
const FORWARDED =
  /^(-{2,}\s*(forwarded message|weitergeleitete nachricht|message transféré|mensaje reenviado|messaggio inoltrato|doorgestuurd bericht|пересылаемое сообщение)|begin forwarded message)/iu;
/** The names of sender and subject in a block of headers: `From:`, `Von:` … */
const FROM =
  /^\*?(from|von|de|da|van|från|fra|lähettäjä|od|от|发件人|差出人|보낸 사람)\s*[:：]\*?\s*\S/iu;
const OTHER_HEADERS =
  /^\*?(sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|date|à|objet|enviado( el)?|para|asunto|inviato|a|oggetto|data|assunto|verzonden|aan|onderwerp|skickat|till|ämne|sendt|til|emne|lähetetty|vastaanottaja|aihe|wysłano|do|temat|odesláno|komu|předmět|отправлено|кому|тема|дата|发送时间|收件人|主题|送信日時|宛先|件名|보낸 날짜|받는 사람|제목)\s*[:：]/iu;

/**
 * Returns what the person wrote: without the mail that they answer, and without their signature. What is quoted between
 * their words stays, because they answer it line by line; so does what they forward, and a mail that is all quotation.
 */
export function ownWordsOf(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  if (lines.some((line) => FORWARDED.test(line.trim()))) return tidy(lines);
  const end = quotationStart(lines);
  const kept = withoutQuotedTail(withoutSignature(lines.slice(0, end)));
  const words = tidy(kept);
  if (words !== '') return words;
  const below = tidy(withoutSignature(lines.filter((line) => !line.startsWith('>'))));
  const [, ...rest] = below.split('\n');
  return end === 0 && rest.length > 0 && isIntroduction(lines, 0) > 0
    ? rest.join('\n').trim()
    : tidy(lines);
}

/** A forwarded mail within a mail: what the sender wrote above it, whose it is, and its words. */
export type ForwardedMail = {
  readonly comment: string;
  readonly from: string | null;
  readonly words: string;
};

/** Takes a mail apart that forwards another one; null for one that does not. */
export function forwardIn(text: string): ForwardedMail | null {
  const lines = text.split('\n');
  const at = lines.findIndex((line) => FORWARDED.test(line.trim()));
  if (at === -1) return null;
  const first = lines.findIndex((line, index) => index > at && line.trim() !== '');
  const isHead =
    FROM.test(lines[first]?.trim() ?? '') || OTHER_HEADERS.test(lines[first]?.trim() ?? '');
  const blank = lines.findIndex((line, index) => index > first && line.trim() === '');
  const end = !isHead ? at + 1 : blank === -1 ? lines.length : blank;
  const author = lines.slice(at + 1, end).find((line) => FROM.test(line.trim()));
  const from = author
    ?.replace(/^[^:：]*[:：]\*?/, '')
    .replace(/<[^>]*>|mailto:/g, '')
    .trim();
  return {
    comment: tidy(lines.slice(0, at)),
    from: from === undefined || from === '' ? null : from,
    words: tidy(lines.slice(end)),
  };
}

/** Returns the line at which the mail that is answered begins; the number of lines where there is none. */
function quotationStart(lines: readonly string[]): number {
  for (let at = 0; at < lines.length; at += 1) {
    const line = (lines[at] ?? '').trim();
    if (line.length > LONGEST_LINE) continue;
    if (SEPARATORS.test(line) || isHeaderBlock(lines, at)) return at;
    const length = isIntroduction(lines, at);
    if (length > 0 && isQuotedToTheEnd(lines, at + length)) return at;
  }
  return lines.length;
}

/** Returns over how many lines an introduction goes that begins here; 0 for none. */
function isIntroduction(lines: readonly string[], at: number): number {
  for (let count = 1; count <= FOLDED_LINES; count += 1) {
    const folded = lines.slice(at, at + count).map((line) => line.trim());
    const last = folded.at(-1) ?? '';
    if (last === '' || last.startsWith('>') || folded.join(' ').length > LONGEST_LINE) return 0;
    if (!introduces(folded)) continue;
    // Words of their own may stand right above it, unless it began as one does.
    if (INTRODUCTIONS[0]?.test(folded.join(' '))) return count;
    return folded.some((_, from) => from > 0 && introduces(folded.slice(from))) ? 0 : count;
  }
  return 0;
}

function introduces(lines: readonly string[]): boolean {
  return INTRODUCTIONS.some((pattern) => pattern.test(lines.join(' ')));
}

/** Nothing of their own comes after it: each line is quoted, or, in a client that marks nothing, the mail ends so. */
function isQuotedToTheEnd(lines: readonly string[], from: number): boolean {
  const rest = lines.slice(from).filter((line) => line.trim() !== '');
  if (!rest.some((line) => line.trimStart().startsWith('>'))) return true;
  const lastQuoted = rest.findLastIndex((line) => line.trimStart().startsWith('>'));
  const after = rest.slice(lastQuoted + 1);
  return after.length === 0 || /^--\s?$/.test(after[0] ?? '');
}

function isHeaderBlock(lines: readonly string[], at: number): boolean {
  if (!FROM.test((lines[at] ?? '').trim())) return false;
  const next = lines.slice(at + 1, at + 6).map((line) => line.trim());
  return next.filter((line) => OTHER_HEADERS.test(line)).length >= 2;
}

function withoutSignature(lines: readonly string[]): readonly string[] {
  const at = lines.findLastIndex((line) => line === '-- ' || line === '--');
  return at <= 0 ? lines : lines.slice(0, at);
}

/** Drops quoted lines at the end, and the rule of underlines that Outlook draws above its headers. */
function withoutQuotedTail(lines: readonly string[]): readonly string[] {
  let end = lines.length;
  // Cut off first: a pattern with blanks at both ends is slow on a line of nothing but them.
  while (end > 0 && /^(>.*|_{5,})?$/.test((lines[end - 1] ?? '').trim())) end -= 1;
  return lines.slice(0, end);
}

function tidy(lines: readonly string[]): string {
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
