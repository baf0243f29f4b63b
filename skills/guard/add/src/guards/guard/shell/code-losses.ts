import type { Loss } from './losses.ts';
import type { Value } from './word-values.ts';

/** Programs that run what they are given as SQL. */
export const SQL_CLIENT = /^(?:sqlite3|psql|mysql|mariadb|duckdb|sqlcmd|usql|litecli|pgcli|mycli)$/;

/** Tells whether SQL deletes or changes a whole table or more. */
export function losesRows(sql: string): boolean {
  return withoutComments(sql)
    .split(';')
    .some((statement) => {
      const isWhole = !/\bwhere\b/i.test(statement);
      return (
        /\bdrop\s+(?:table|database|schema|view|materialized|column|owned|role|user|index|tablespace)\b/i.test(
          statement,
        ) ||
        /\btruncate\s+(?:table\s+)?["`[\w]/i.test(statement) ||
        (/\balter\s+table\b/i.test(statement) && /\bdrop\b/i.test(statement)) ||
        (isWhole && /\bdelete\s+from\s+["`[\w]/i.test(statement)) ||
        (isWhole && /\bupdate\s+\S+\s+set\s+\S+\s*=/i.test(statement))
      );
    });
}

/** Takes out the comments, in time that is linear in the length. */
function withoutComments(sql: string): string {
  const [first = '', ...rest] = sql.replace(/--[^\n]*/g, ' ').split('/*');
  const after = rest.map((part) => {
    const end = part.indexOf('*/');
    return end === -1 ? ` ${part}` : ` ${part.slice(end + 2)}`;
  });
  return first + after.join('');
}

type CodeLoss = Pick<Loss, 'how' | 'effect'> & { readonly path: Value };

/** Calls that delete the file of their first word. */
const DELETES =
  /\b(os\.remove|os\.unlink|(?:fs\.)?unlinkSync|fs\.unlink|fs\.promises\.unlink|File\.delete|File\.unlink|unlink)\s*\(?\s*(?:(['"])([^'"\n]{1,300})\2|(?=[\w$@]))/g;
/** The same as a method of a path. */
const DELETES_PATH =
  /\bPath\(\s*(['"])([^'"\n]{1,300})\1\s*\)\s*\.\s*(unlink|write_text|write_bytes)\s*\(/g;
/** Calls that write a file anew. */
const WRITES =
  /\b(open)\s*\(\s*(['"])([^'"\n]{1,300})\2\s*,\s*(?:mode\s*=\s*)?['"][bt]?w|\b((?:fs\.)?writeFileSync|fs\.writeFile|fs\.promises\.writeFile|File\.write|IO\.write|fs\.truncateSync|createWriteStream|file_put_contents)\s*\(?\s*(['"])([^'"\n]{1,300})\5/g;
/** Calls that put one file in the place of another. */
const MOVES =
  /\b(os\.rename|os\.replace|shutil\.(?:move|copy|copyfile|copy2)|(?:fs\.)?renameSync|(?:fs\.)?copyFileSync)\s*\(\s*(['"])([^'"\n]{1,300})\2\s*,\s*(['"])([^'"\n]{1,300})\4/g;

/** Returns the files that a program in another language deletes or writes over, as far as its text tells. */
export function lossesInCode(code: string): readonly CodeLoss[] {
  return [
    ...[...code.matchAll(DELETES)].map(
      ([, how = '', , path]): CodeLoss => ({ how, effect: 'deletes', path: path ?? null }),
    ),
    ...[...code.matchAll(DELETES_PATH)].map(
      ([, , path = '', how = '']): CodeLoss => ({
        how,
        effect: how === 'unlink' ? 'deletes' : 'writes over',
        path,
      }),
    ),
    ...[...code.matchAll(WRITES)].map(
      ([, open, , opened, write = '', , written]): CodeLoss => ({
        how: open ?? write,
        effect: 'writes over',
        path: opened ?? written ?? null,
      }),
    ),
    ...[...code.matchAll(MOVES)].map(
      ([, how = '', , , , path = '']): CodeLoss => ({ how, effect: 'writes over', path }),
    ),
  ];
}
