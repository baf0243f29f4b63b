export type PdfParts = {
  /** The text of each page, a line each; a page without text shows a drawing. */
  readonly pages: readonly string[];
  /** It asks for a password. */
  readonly isEncrypted?: boolean;
};

/** Makes a PDF. */
export function pdfOf({ pages, isEncrypted = false }: PdfParts): Buffer {
  const first = 4;
  const kids = pages.map((_, at) => `${first + 2 * at} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((text, at) => {
      const drawn = text === '' ? '0 0 100 100 re f' : wordsOf(text);
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${first + 2 * at + 1} 0 R >>`,
        `<< /Length ${drawn.length} >>\nstream\n${drawn}\nendstream`,
      ];
    }),
    ...(isEncrypted
      ? [`<< /Filter /Standard /V 1 /R 2 /P -44 /O <${'41'.repeat(32)}> /U <${'42'.repeat(32)}> >>`]
      : []),
  ];
  let body = '%PDF-1.4\n';
  const places = objects.map((object, at) => {
    const place = body.length;
    body += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const extra = isEncrypted ? ` /Encrypt ${objects.length} 0 R /ID [<00> <00>]` : '';
  const size = objects.length + 1;
  const trailer = `trailer << /Size ${size} /Root 1 0 R${extra} >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(
    `${body}xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}${trailer}`,
    'latin1',
  );
}

function wordsOf(text: string): string {
  const lines = text.split('\n').map((line) => `(${line.replace(/[()\\]/g, '\\$&')}) Tj T*`);
  return `BT /F1 12 Tf 14 TL 50 800 Td ${lines.join(' ')} ET`;
}
