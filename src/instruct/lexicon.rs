//! The word lists of the built-in reader, lower case. Lists, not rules: nothing here decides anything alone.

/// Whether `word` stands in a list that is written as one string of words.
fn listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|entry| entry == word)
}

macro_rules! word_tests {
    ($($(#[$doc:meta])* $name:ident = $list:expr;)*) => {
        $($(#[$doc])* pub fn $name(word: &str) -> bool { listed($list, word) })*
    };
}

/// Verbs that ask for an edit and can begin a clause in the middle of a sentence ("…, and delete the lamp").
pub const COMMANDS: &str = "add insert include put place draw attach introduce remove delete erase eliminate replace swap exchange \
    substitute change turn transform transfer convert make alter modify adjust switch recolor recolour move shift relocate give enlarge \
    shrink resize apply decorate cover hang get take fill equip paint dye set render edit install plant increase decrease reduce restore extract repaint rotate";

/// Verbs that begin an instruction; wider than [`COMMANDS`], since some of them are nouns elsewhere.
pub const OPENERS: &str = "clear cut wipe strip discard exclude hide omit drop crop subtract trade morph reimagine update shift adapt \
    color colour tint slide drag push pull bring reposition position position scale widen lengthen shorten thicken expand open close \
    shut blur sharpen brighten darken rotate flip mirror zoom colorize colourize dress adorn surround equip top stuff sprinkle scatter \
    pour stick overlay superimpose paste throw let have show use create generate pose raise lower lift grow fold light break bend \
    clean wash stretch extend fix restore enhance wrap mask use imagine append picture extract isolate double triple halve write type spell split smooth beautify drop whiten slim trim shave straighten curl soften polish";

word_tests! {
    is_command = COMMANDS;
    is_opener = OPENERS;
    is_article = "a an the";
    /// Words before a noun that say which one or how many, and are no part of a phrase.
    is_determiner = "a an the this that these those some any my your his her their our its every each both another either additional \
        extra more";
    is_definite = "the this that these those my your his her their our its both all every each";
    is_number = "one two three four five six seven eight nine ten eleven twelve dozen several many few multiple single";
    is_whole = "it this that everything";
    is_person_word = "him her he she them they me us you we i who someone";
    /// What a picture is called. A picture is never what something is added to.
    is_picture = "image picture photo photograph pic img scene shot snapshot frame screenshot artwork photos images canvas view";
    is_colour = "red green blue yellow orange purple violet pink brown black white gray grey beige tan cream ivory gold golden silver \
        cyan teal turquoise magenta maroon crimson scarlet navy indigo lavender lilac mauve olive lime khaki peach coral salmon aqua \
        burgundy amber charcoal fuchsia mint emerald ruby sapphire rainbow multicolored multicoloured colorful colourful colorless \
        blonde blond brunette ginger auburn tan bronze rose-gold reddish greenish bluish yellowish whitish blackish platinum rose";
    is_colour_modifier = "light dark bright deep pale neon pastel hot baby sky royal metallic vivid soft forest army electric lime dull \
        midnight dusty rich pure solid";
    is_texture = "wood wooden metal metallic steel iron marble stone brick glass leather silk velvet cotton wool woolen woollen denim \
        plastic rubber paper cardboard concrete cement clay ceramic porcelain crystal diamond copper brass aluminum aluminium chrome \
        bamboo wicker straw fur furry fluffy fuzzy hairy lace linen satin tweed plaid striped stripes stripy dotted spotted checkered \
        chequered checked floral patterned rusty rusted rough smooth shiny glossy matte scaly woven knitted quilted tiled cobblestone \
        cobblestones gravel asphalt granite jade foil yarn felt camouflage camo tie-dye tie-dyed suede corduroy calfskin mosaic \
        gingham paisley sequined glittery sparkly bumpy grainy cracked pebbled mossy feathered quartz terracotta obsidian titanium \
        polka-dot polka-dotted woodgrain";
    is_texture_noun = "texture textures pattern patterns material print finish surface fabric";
    is_bigger = "bigger larger taller longer wider thicker fatter broader huge giant gigantic enormous massive big large tall long wide \
        thick oversized colossal biggest largest tallest humongous";
    is_smaller = "smaller shorter thinner narrower tiny small little miniature mini slimmer slim short thin narrow tinier littler minuscule \
        smallest shortest petite microscopic";
    /// Words that only grade the property after them.
    is_degree = "much bit little way even slightly more very far lot somewhat quite really super extra so all completely entirely \
        fully totally just twice half as three four five times double a an lots considerably noticeably less too again than usual \
        now size ten 2x 3x";
    is_own_part = "claws claw horns horn antlers nails sleeves eyes eye hair nose ears ear fur skin lips lip face mouth tail wings wing legs leg arms arm beak teeth beard nails \
        feathers mane paws eyebrows eyelashes mustache moustache cheeks tongue whiskers spots fingernails hands feet petals leaves";
    /// Where "in" does not mean that a box lies within a box.
    is_grip = "hand hands mouth arms arm paw paws lap beak teeth fingers trunk hair ear";
    is_clothing = "spacesuit wetsuit overcoat blouse cape cloak suit dress gown jacket coat shirt hat uniform t-shirt tuxedo sweater hoodie costume jeans kimono robe skirt bikini \
        swimsuit armor armour helmet raincoat scarf pajamas outfit vest overalls";
    is_weather = "rain rainy raining snow snowy snowing fog foggy mist misty sunny storm stormy overcast windy thunderstorm blizzard hail \
        hailing hazy rainstorm snowstorm drizzle lightning-storm snowfall rainfall sandstorm sleet sunshine";
    is_weather_adjective = "cloudy sunny rainy snowy foggy misty stormy hazy windy gloomy clear starry";
    is_season_or_time = "winter summer spring autumn fall wintry autumnal wintertime summertime springtime night nighttime night-time day \
        daytime morning evening dusk dawn sunset sunrise noon midnight midday twilight afternoon nightfall christmas halloween \
        easter apocalypse";
    is_style = "movie film underwater style styles styled cartoon anime manga watercolor watercolour painting sketch drawing vintage retro sepia noir cyberpunk \
        steampunk impressionist impressionistic impressionism cubist cubism comic comics ghibli pixar disney futuristic medieval \
        fantasy minimalist minimalistic abstract surreal surrealist surrealism realistic photorealistic photo-realistic grayscale \
        greyscale monochrome monochromatic claymation 3d render rendering low-poly voxel pixelated pixel 8-bit 16-bit vaporwave \
        baroque renaissance gothic deco nouveau ukiyo-e filter engraving illustration hdr cinematic aesthetic caricature doodle \
        graffiti-style storybook old-fashioned antique victorian van-gogh picasso monet expressionist expressionism pop-art \
        post-apocalyptic apocalyptic dystopian dreamy psychedelic pastel-style fresco woodcut lithograph etching cartoonish \
        painterly mood look vibe vibes theme lego-style origami-style negative charcoal-drawing line-art black-and-white";
    /// Things that every picture has once; changing them changes the whole.
    is_global_aspect = "angle viewpoint weather season time style mood atmosphere lighting lights-mood contrast brightness saturation exposure hue tone \
        tones vibrancy sharpness resolution quality colors-overall warmth temperature perspective medium climate noise era theme";
    is_global_verb = "brighten darken sharpen blur colorize colourize crop zoom rotate flip mirror stylize stylise enhance denoise desaturate \
        saturate restore deblur upscale invert pixelate";
    /// Adjectives that follow "make X …" and are neither colour, texture nor size.
    is_adjective = "old young older younger happy happier sad sadder angry wet dry empty full open closed clean dirty broken cloudy clear \
        asleep awake bald muscular fat skinny blurry transparent invisible translucent bright brighter dark darker frozen hot cold \
        burnt burned melted ripe rotten fresh new modern ancient wild scary scarier cute cuter ugly beautiful prettier pretty elegant \
        fancy luxurious futuristic vintage pregnant naked hungry tired surprised excited calm rough curly straight wavy messy neat \
        round square flat curved sharp blunt heavy crowded busy lush green-leaved starry stormy rainy foggy snowy sunny gloomy misty \
        visible damaged destroyed ruined decorated blooming glowing bloody sick healthy rich poor loud quiet female male human evil \
        magical royal rainy sleepy serious smiling chinese english french japanese italian spanish german american russian korean indian \
        arabic greek mexican african asian european egyptian roman thai british cooked raw grilled sliced peeled whole bitten \
        blurred lit unlit folded tidy hazy windy flooded deserted abandoned stronger strong weak thirsty warmer cooler realistic \
        cartoonish alive dead upside-down backwards shirtless barefoot fluffier cleaner dirtier louder deeper shallower fuller \
        darker lighter dim dimmer vivid colorful-looking foggier spicy crispy juicy golden-brown crazy silly funny creepy";
    /// Verbs of action and posture, base form.
    is_action = "give do serve bake take bring salute smile laugh cry run walk jump sit stand sleep eat drink fly swim dance sing look lick bite bark kiss hug wave point raise \
        lower close open turn face play read ride swing throw catch kick drive cook wink frown yawn stretch lie lean bend kneel climb \
        fall float glow shine burn explode melt bloom stick show block scream shout talk speak roar cross lift push pull chase fight \
        pose rest graze wag blink stare lay cut pour say hang rise touch shake spin surf ski skate pray salute celebrate clap cheer \
        shoot hide move bow crouch drop feed fish gallop hit howl knit leap march paint peek perch pick roll row sail scowl shrug \
        sip slide smoke sneeze splash sprint squat stay stop study surrender sweat swallow tilt type wait wash watch whistle work \
        write yell grin pout dive juggle meditate exercise rest nap come go emit erupt flow grow leave spread";
    is_be = "be is are was were being been";
    is_have = "have has had having wear wears wore wearing hold holds held holding carry carries carried carrying contain contains \
        contained containing get gets got sport";
    is_modal = "should must could can would will shall may might ought needs need has";
    /// Verbs of a keeping clause: it says what stays and is no edit.
    is_keep = "keep maintain preserve retain leave ensure keeping maintaining preserving leaving retaining ensuring";
    is_remove_verb = "remove delete erase eliminate discard exclude omit hide subtract clear wipe strip removed deleted erased eliminated \
        omitted cleared hidden";
    is_replace_verb = "replace swap exchange substitute trade replaced swapped exchanged substituted traded";
    is_change_verb = "transfer transferred resemble change turn transform convert alter modify edit adjust switch morph render reimagine update shift adapt set translate \
        redesign transition make changed turned transformed converted altered modified adjusted switched morphed";
    is_add_verb = "add insert include put place draw attach introduce install plant hang sprinkle scatter pour stick overlay superimpose \
        paste throw set create generate position show append lay added inserted included placed drawn attached introduced installed \
        planted hung sprinkled scattered poured stuck overlaid superimposed pasted positioned shown sketched";
    is_cover_verb = "fill cover decorate equip adorn surround top dress stuff wrap load filled covered decorated equipped adorned surrounded \
        topped dressed stuffed garnish";
    is_move_verb = "move shift slide drag push pull relocate bring reposition raise lower lift moved shifted slid dragged pushed pulled \
        relocated brought repositioned drop";
    is_grow_verb = "enlarge expand widen lengthen thicken magnify enlarged expanded widened lengthened grow increase increased";
    is_shrink_verb = "shrink reduce shorten narrow decrease minimize shrunk reduced shortened narrowed decreased downsize";
    is_colour_verb = "repaint repainted paint color colour dye tint recolor recolour painted colored coloured dyed tinted recolored recoloured";
    is_indefinite = "a an some another several many two three four five six seven eight nine ten";
    is_comma_word = ", . ! ? ; : ( )";
    is_name_verb = "wear wearing holding carrying having hold carry";
}

/// Verbs whose object takes on a state: base form and the state as an adjective.
pub const STATE_VERBS: &[(&str, &str)] = &[
    ("open", "open"),
    ("close", "closed"),
    ("shut", "closed"),
    ("blur", "blurred"),
    ("sharpen", "sharper"),
    ("brighten", "brighter"),
    ("darken", "darker"),
    ("rotate", "rotated"),
    ("flip", "flipped"),
    ("mirror", "mirrored"),
    ("fold", "folded"),
    ("break", "broken"),
    ("bend", "bent"),
    ("clean", "clean"),
    ("wash", "clean"),
    ("light", "lit"),
    ("colorize", "colorful"),
    ("colourize", "colourful"),
    ("restore", "restored"),
    ("fix", "fixed"),
    ("enhance", "enhanced"),
    ("extend", "extended"),
    ("stretch", "stretched"),
    ("stylize", "stylized"),
    ("pixelate", "pixelated"),
    ("saturate", "saturated"),
    ("desaturate", "desaturated"),
    ("tilt", "tilted"),
    ("raise", "raised"),
    ("lift", "raised"),
    ("lower", "lowered"),
    ("split", "split"),
    ("smooth", "smooth"),
    ("whiten", "whiter"),
    ("slim", "slimmer"),
    ("trim", "trimmed"),
    ("shave", "shaved"),
    ("cut", "cut"),
    ("straighten", "straight"),
    ("curl", "curly"),
    ("soften", "softer"),
    ("polish", "polished"),
    ("beautify", "beautiful"),
    ("age", "aged"),
    ("empty", "empty"),
    ("freeze", "frozen"),
    ("melt", "melted"),
    ("slice", "sliced"),
    ("peel", "peeled"),
];

/// The adjective of the state that a verb (base form or participle) leaves its object in.
pub fn state_of(verb: &str) -> Option<&'static str> {
    STATE_VERBS
        .iter()
        .find(|(base, state)| {
            *base == verb || *state == verb || format!("{base}ed") == verb || format!("{base}d") == verb || format!("{base}ing") == verb
        })
        .map(|(_, state)| *state)
}

/// Frequent misspellings of words too short or too common to be found by distance.
pub const MISSPELLINGS: &[(&str, &str)] = &[
    ("teh", "the"),
    ("hte", "the"),
    ("adn", "and"),
    ("nad", "and"),
    ("wiht", "with"),
    ("wtih", "with"),
    ("whith", "with"),
    ("aad", "add"),
    ("addd", "add"),
    ("mkae", "make"),
    ("maek", "make"),
    ("mak", "make"),
    ("amke", "make"),
    ("tunr", "turn"),
    ("trun", "turn"),
    ("putt", "put"),
    ("palce", "place"),
    ("gvie", "give"),
    ("giev", "give"),
    ("hvae", "have"),
    ("lte", "let"),
    ("backround", "background"),
    ("backgroud", "background"),
    ("bakcground", "background"),
    ("backgound", "background"),
    ("colur", "colour"),
    ("coler", "color"),
    ("yelow", "yellow"),
    ("purpel", "purple"),
    ("orage", "orange"),
    ("balck", "black"),
    ("whtie", "white"),
    ("gren", "green"),
    ("biger", "bigger"),
    ("smaler", "smaller"),
    ("samller", "smaller"),
    ("larg", "large"),
    ("cahnge", "change"),
    ("pls", "please"),
    ("plz", "please"),
    ("plese", "please"),
    ("pleas", "please"),
    ("wnat", "want"),
    ("shoud", "should"),
    ("shuld", "should"),
    ("instaed", "instead"),
    ("intead", "instead"),
    ("insted", "instead"),
    ("insead", "instead"),
    ("isntead", "instead"),
    ("itno", "into"),
];
