/** Notes of a household and its work, and questions whose answer is in one of them. */
export const NOTES: readonly string[] = [
  'The plumber comes on the 24th between eight and ten to look at the boiler.',
  'Bob does not eat fish, and shrimps make him ill.',
  'The spare key is with Mrs Okafor on the second floor.',
  'The car has to go to its yearly inspection before the end of March.',
  'Grandma was born on the 3rd of May 1941 in Lisbon.',
  'The router in the cellar needs a restart when the lights on it blink red.',
  'Mia has piano lessons on Wednesdays at half past four.',
  'We agreed to spend at most 1,200 euros on the summer holiday.',
  'The rent is paid on the first of each month from the joint account.',
  'The dentist said that Tom needs braces next year.',
  'Garbage is collected on Tuesdays, paper every second Friday.',
  'The recipe for the walnut cake is in the blue folder in the kitchen.',
  'Our flight to Porto leaves at 6:40 in the morning from terminal two.',
  'The cat has to take half a tablet every evening against her thyroid trouble.',
  'The bicycle was stolen in front of the library; the police file has the number 4411.',
  'The landlord allows us to paint the walls, as long as we paint them white when we move out.',
  'The heating costs rose by a third after the new contract with the gas company.',
  'Anna starts her new job at the hospital in September.',
  'The Wi-Fi of the guests is called Harbour and needs no password.',
  'The lawyer advised us not to sign the contract before the survey of the house.',
  'The window in the bathroom does not close properly since the storm.',
  'The neighbours complain about the drums after nine in the evening.',
  'We want to plant tomatoes and beans on the balcony in April.',
  'The insurance pays for water damage up to 50,000 euros.',
  'Lena is vegetarian and brings her own sausages to the barbecue.',
  'The washing machine is still under warranty until June.',
  'The old laptop was given to the school; its disk was wiped before.',
  'The children may watch one film at the weekend.',
  'My doctor wants to see me again in six weeks because of my blood pressure.',
  'The release is planned for the second week of October; the freeze begins a week before.',
  'The backup of the server runs at three at night and is kept for thirty days.',
  'The customer from Oslo pays late, but always pays.',
  'The meeting with the tax adviser was moved to Thursday afternoon.',
  'Deployments on Fridays are forbidden since the outage in spring.',
  'The intern gets access to the test database only.',
  'Our logo may not be shown on a dark background.',
  'The coffee machine in the office is cleaned by whoever empties the beans.',
  'Travel costs are handed in until the fifth of the following month.',
  'The certificate of the shop expires on the 12th of February.',
  'Support is staffed from seven to seven, and at weekends by phone alone.',
  'The printer on the third floor takes only recycled paper.',
  'We decided against the cloud provider because its data centre is abroad.',
  'The password manager is shared by the whole team; new members ask Priya.',
  'The warehouse is closed between Christmas and New Year.',
  'Invoices above ten thousand need two signatures.',
  'Hiring is stopped until the numbers of the third quarter are known.',
  'The demo for the board takes place in the large room with the glass wall.',
  'The test phones are in the drawer below the window.',
  'Bug reports from the field go to Jonas first, who sorts them.',
  'The API limits each client to a hundred calls a minute.',
  'The old monolith is switched off at the end of the year.',
  'Paul is allergic to penicillin.',
  'The piano tuner charges ninety euros and comes from the next town.',
  'The choir sings in the church on the last Sunday before Easter.',
  'The smoke detector in the hall beeps when its battery is low.',
  'The tent leaks at the seam; we wanted to have it glued.',
  'The swimming course for Emil begins on Monday; he needs goggles.',
  'The best bakery for rye bread is the one next to the station.',
  'The passport of Tom expires in August, before the trip.',
  'Grandpa hears badly on the left side, so sit on his right.',
  'We lent the drill to Marco in November.',
  'The savings for the roof are on the account in Munich.',
  'The dog next door barks when the postman comes.',
  'The freezer is full of berries that we picked in July.',
];

export type Question = {
  readonly text: string;
  /** The index of the note that answers it. */
  readonly note: number;
  /** Whether it shares telling words with its note. */
  readonly kind: 'paraphrase' | 'shared words' | 'other form';
};

const paraphrase = (text: string, note: number): Question => ({ text, note, kind: 'paraphrase' });
const shared = (text: string, note: number): Question => ({ text, note, kind: 'shared words' });
const form = (text: string, note: number): Question => ({ text, note, kind: 'other form' });

export const QUESTIONS: readonly Question[] = [
  paraphrase('When will somebody repair our hot water?', 0),
  paraphrase('Can I serve salmon for dinner when Robert visits?', 1),
  paraphrase('I am locked out, who can let me in?', 2),
  paraphrase('Until when does the vehicle need its technical check?', 3),
  paraphrase('How old is my grandmother?', 4),
  paraphrase('The internet is down, what should I do?', 5),
  paraphrase('What is our budget for the vacation?', 7),
  paraphrase('Who is going to get orthodontic treatment?', 9),
  paraphrase('Which day do they pick up the trash?', 10),
  paraphrase('Where are the baking instructions for the dessert with nuts?', 11),
  paraphrase('At what time does our plane take off?', 12),
  paraphrase('What medicine does our pet need?', 13),
  paraphrase('Are we permitted to change the colour of the rooms?', 15),
  paraphrase('Why is our energy bill so much higher?', 16),
  paraphrase('How do visitors get online?', 18),
  paraphrase('What did the attorney say about buying the home?', 19),
  paraphrase('Until what hour may I practise my instrument loudly?', 21),
  paraphrase('Which vegetables are we going to grow outside?', 22),
  paraphrase('Are we covered when a pipe bursts?', 23),
  paraphrase('Who at the grill party eats no meat?', 24),
  paraphrase('What became of the computer that we no longer use?', 26),
  paraphrase('When is my next checkup with the physician?', 28),
  paraphrase('On what date do we ship the new version?', 29),
  paraphrase('How long do we keep copies of our data?', 30),
  paraphrase('Which client is slow with money?', 31),
  paraphrase('May I put a change live before the weekend?', 33),
  paraphrase('By when do I have to submit expenses for my trip?', 37),
  paraphrase('How can a colleague reach us on Saturday with a problem?', 39),
  paraphrase('Do we take on new employees at present?', 45),
  paraphrase('Which drug must never be given to Paul?', 51),
  paraphrase('Which way should I sit so that grandfather understands me?', 59),
  paraphrase('Who borrowed our power tool?', 60),
  shared('When does the plumber come for the boiler?', 0),
  shared('spare key Mrs Okafor', 2),
  shared('police file number of the stolen bicycle', 14),
  shared('Does the insurance pay for water damage?', 23),
  shared('When does the certificate of the shop expire?', 38),
  shared('How many calls a minute does the API allow?', 49),
  shared('What does the piano tuner charge?', 52),
  shared('passport of Tom', 58),
  form('planting a tomato', 22),
  form('inspections of cars', 3),
  form('deploying on a Friday', 33),
  form('signing an invoice', 44),
  form('painted wall', 15),
  form('swim courses', 56),
  form('signature for large invoice', 44),
  form('allergies', 51),
];

/** Sentences of pages that fit many questions. */
const GENERAL: readonly string[] = [
  'Costs and dates differ from place to place, and whoever is in doubt should ask a professional before the work begins.',
  'Experts advise to write down who is responsible, by when it has to be done, and where the papers are kept.',
  'Most households and companies find a rule for it in their contract, in the manual, or at the office of their town.',
];

/**
 * Answers as an assistant that reads the web gives them, one to each question, long and in the question's own words;
 * and what it said where a tool failed. None of them has the answer.
 */
export const ANSWERS: readonly string[] = QUESTIONS.flatMap(({ text }, at) => [
  `You asked: ${text} I looked on the web, and found pages that speak of it in general. ${GENERAL[at % GENERAL.length]} One of them begins with the words "${text}" and goes on for some pages; another one lists what people mostly say about it. None of them is about your home or your work, so look at the original before you rely on it.`,
  ...(at % 3 === 0
    ? [
        `The tool web_search failed: the server could not be reached (ECONNREFUSED). I wanted to look up: ${text}`,
      ]
    : []),
]);
