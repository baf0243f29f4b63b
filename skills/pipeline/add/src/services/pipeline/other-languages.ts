import type { TaskType } from './stage.ts';

/** A sign of a type of work, and what it counts. */
export type Sign = readonly [type: TaskType, count: number, sign: RegExp];

/** Makes a sign of beginnings of words; `\b` knows the letters of English alone. */
const begins = (type: TaskType, count: number, words: string): Sign => [
  type,
  count,
  new RegExp(`(?<!\\p{L})(?:${words})`, 'iu'),
];

/** Makes a sign of a word and another that follows it within the same sentence. */
const pair = (type: TaskType, count: number, first: string, second: string): Sign =>
  begins(type, count, `(?:${first})\\p{L}{0,6}[^.!?\\n]{0,40}(?<!\\p{L})(?:${second})`);

/** Signs in German, French, Spanish, Italian, Portuguese and Dutch, in that order. */
export const OTHER_SIGNS: readonly Sign[] = [
  pair(
    'CodeGeneration',
    3,
    'schreib|erstell|programmier|implementier|beheb|écris|crée|programme|corrige|escrib|escríb|crea|programa|implementa|scrivi|correggi|escreva|cria|corrija|schrijf|maak',
    'funktion|klasse|skript|programm|code|fehler im|fonction|classe|script|programme|función|funcion|clase|programa|código|funzione|programma|codice|função|functie',
  ),
  begins(
    'CodeReview',
    3,
    'code-?review|(?:prüfe?|überprüfe?|schau dir) (?:bitte )?(?:diesen|den|meinen) (?:code|patch|commit)|(?:relis|vérifie) (?:ce|mon) code|revisa (?:este|mi) código|(?:controlla|rivedi) (?:questo|il mio) codice|revise (?:este|meu) código|bekijk (?:deze|mijn) code',
  ),
  begins(
    'Research',
    3,
    'recherchier|such(?:e)? (?:im (?:netz|internet|web)|nach)|finde heraus|neueste nachrichten|cherche|recherche|trouve des sources|busca|investiga|averigua|cerca (?:su|in) |ricerca|pesquis|procura|zoek',
  ),
  begins(
    'Research',
    1,
    'wer (?:ist|war|hat)|wann (?:ist|war|wurde)|qui (?:est|était|a )|quand (?:est|a )|quién (?:es|fue)|cuándo (?:es|fue)|chi (?:è|era|ha)|quando (?:è|foi)|quem (?:é|foi)|wie (?:is|was) ',
  ),
  pair(
    'Creative',
    3,
    'schreib|dicht|erfind|erzähl|écris|compose|invente|raconte|escrib|escríb|compón|inventa|cuenta|scrivi|componi|racconta|escreva|conte|schrijf|verzin|vertel',
    'gedicht|geschichte|lied|witz|rede|märchen|poème|histoire|chanson|blague|poema|historia|cuento|canción|chiste|poesia|storia|canzone|barzelletta|história|canção|piada|verhaal|liedje|grap',
  ),
  begins(
    'Analysis',
    3,
    'analysier|vergleich|bewerte|vor- und nachteile|fasse? .{0,60}zusammen|zusammenfass|analyse[rz]?(?!\\p{L})|compare|évalue|résume|avantages et|analiza|compara|evalúa|resume|resumen|ventajas y|analizza|confronta|riassum|analise|resuma|analyseer|vergelijk|samenvat',
  ),
  begins(
    'Analysis',
    1,
    'warum|wieso|weshalb|erkläre?|berechne|pourquoi|explique|calcule|por qué|explica|calcula|perché|spiega|por que|waarom|leg uit',
  ),
  begins(
    'ToolUse',
    3,
    'erinnere? mich|jeden (?:tag|morgen|abend|montag)|jede woche|stelle? (?:einen|den) wecker|rappelle-moi|chaque (?:jour|matin|soir|semaine)|tous les (?:jours|matins|soirs)|recuérdame|cada (?:día|mañana|noche|semana)|todos los días|ricordami|ogni (?:giorno|mattina|sera|settimana)|lembra-me|lembre-me|todos os dias|herinner me|elke (?:dag|ochtend|avond|week)',
  ),
  pair(
    'ToolUse',
    2,
    'lösch|öffne|speicher|verschieb|sende|schick|benenn|supprime|ouvre|envoie|enregistre|borra|elimina|abre|envía|guarda|apri|invia|salva|apaga|envia|verwijder|stuur',
    'datei|ordner|nachricht|aufgabe|fichier|dossier|message|tâche|archivo|carpeta|mensaje|tarea|file|cartella|messaggio|ficheiro|arquivo|pasta|mensagem|bestand|map|bericht',
  ),
  begins(
    'Chat',
    1,
    'hallo|guten (?:morgen|tag|abend)|danke|wie geht|bonjour|salut|merci|ça va|hola|gracias|buenos días|buenas|ciao|grazie|buongiorno|olá|obrigad|bom dia|dank je|goedemorgen',
  ),
];

/** Messages that only make sense after the one before. */
export const OTHER_GOES_ON =
  /^(?:weiter|mach weiter|noch ?mal|nochmals|continue|encore|refais|sigue|continúa|otra vez|de nuevo|continua|ancora|di nuovo|outra vez|ga door|opnieuw)(?!\p{L})/iu;

/** Words that ask for thought. */
export const OTHER_HARD =
  /(?<!\p{L})(?:warum|vergleich|beweis|entw[iu]rf|schritt für schritt|ausführlich|gründlich|sorgfältig|pourquoi|compare|prouve|étape par étape|en détail|por qué|compara|demuestra|paso a paso|en detalle|perché|confronta|dimostra|passo dopo passo|por que|prove|passo a passo|waarom|vergelijk|bewijs|stap voor stap)/giu;
