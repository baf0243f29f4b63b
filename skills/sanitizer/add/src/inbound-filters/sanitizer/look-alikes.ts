/** Letters of other scripts that look like Latin ones in most fonts. */
const PAIRS: readonly (readonly [string, string])[] = [
  // Cyrillic
  ['авеԁցһіјκӏոорԛгѕтυѵԝхуᴢ', 'abedghijklnopqrstuvwxyz'],
  ['АВСЕНІЈКМОРЅТԜХУԌ', 'abcehijkmopstwxyg'],
  ['сꙅё', 'cse'],
  // Greek
  ['αβϲεηικνορτυχγω', 'abcenikvoptuxyw'],
  ['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'abezhikmnoptyx'],
  // Armenian, Cherokee and letters of phonetic alphabets
  ['օսոզցհյ', 'ounqghj'],
  ['ᎪᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ', 'abcdehjklmprstvwz'],
  ['ɑɡıɩɪʟɴʀᴀᴄᴇᴏᴘᴛᴜᴠᴡ', 'agiiilnraceoptuvw'],
];

const LATIN_OF = new Map(
  PAIRS.flatMap(([others, latin]) =>
    [...others].map((other, index): [string, string] => [other, latin[index] ?? '']),
  ),
);

/** A longer word is taken in parts: one of millions of letters is too much for the machine of the patterns. */
const WORD = /[\p{L}\p{M}]{3,1000}/gu;
const LATIN = /\p{sc=Latin}/u;
const OTHER_SCRIPT = /[\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Armenian}\p{sc=Cherokee}]/u;

/** Forms of Arabic, one of which is a whole sentence when it is taken apart, and none of which looks Latin. */
const LIGATURES = /[\uFB50-\uFDFF\uFE70-\uFEFE]+/g;

/** Returns a text as it looks: with Latin letters for their look-alikes, without what is not seen, in lower case. */
export function asItLooks(text: string): string {
  const plain = text
    .replace(LIGATURES, ' ')
    // Marks are put in order one by one: a hundred thousand of them would take seconds.
    .replace(/\p{M}+/gu, '')
    .normalize('NFKD')
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}\p{Cc}]/gu, (one) =>
      /\s/.test(one) ? one : '',
    );
  return [...plain]
    .map((letter) => LATIN_OF.get(letter) ?? letter)
    .join('')
    .toLowerCase();
}

/**
 * Returns the words of a text that mix Latin letters with look-alikes of them, and with no other letters: nobody
 * writes so by chance. A word in one script is as it should be, and so is one with letters that look like none.
 */
export function lookAlikeWords(text: string): readonly string[] {
  if (!OTHER_SCRIPT.test(text)) return [];
  return (text.match(WORD) ?? []).filter((word) => {
    const letters = [...word].filter((letter) => /\p{L}/u.test(letter));
    const others = letters.filter((letter) => !LATIN.test(letter));
    const isMixed = others.length > 0 && others.length < letters.length;
    return isMixed && others.every((letter) => LATIN_OF.has(letter));
  });
}
