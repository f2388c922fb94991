//! Unicode properties: the names that `\p{…}` accepts (ECMA-262, section 22.2.1). With the feature `patterns`, the
//! tables of `regex-syntax` also give the characters with a property, and the letters that differ only by case.

#[cfg(feature = "patterns")]
use std::sync::OnceLock;

use super::class::CodePoints;

/// The error if the feature `patterns` is off.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoTables;

/// Returns the characters with a property; `None` if the tables do not have the property.
#[cfg(feature = "patterns")]
#[allow(clippy::unnecessary_wraps)] // The function without the feature returns an error.
pub(super) fn code_points(property: &str) -> Result<Option<CodePoints>, NoTables> {
    use regex_syntax::hir::{Class, HirKind};

    // No text holds surrogates.
    let value = property.split_once('=').map_or(property, |(_, value)| value);
    if matches!(value, "Cs" | "Surrogate") {
        return Ok(Some(CodePoints::default()));
    }
    let query = if is_one_of(CATEGORIES, property) {
        format!("gc={property}")
    } else {
        property.to_owned()
    };
    let parsed = regex_syntax::parse(&format!("\\p{{{query}}}")).ok();
    Ok(parsed.and_then(|parsed| match parsed.into_kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Some(class.iter().fold(CodePoints::default(), |mut points, range| {
                points.add(range.start(), range.end());
                points
            }))
        }
        _ => None,
    }))
}

#[cfg(not(feature = "patterns"))]
pub(super) fn code_points(_: &str) -> Result<Option<CodePoints>, NoTables> {
    Err(NoTables)
}

/// Returns these code points, whose ranges are in order, and all that differ only by case (simple case folding); `None` without
/// the tables.
#[cfg(feature = "patterns")]
#[allow(clippy::unnecessary_wraps)] // The function without the feature returns `None`.
pub(super) fn any_case(points: &CodePoints) -> Option<CodePoints> {
    let mut folded = points.clone();
    for &(low, high) in points.ranges() {
        let letters = &letters()[letters().partition_point(|&(letter, _)| letter < low)..];
        for &(_, other) in letters.iter().take_while(|&&(letter, _)| letter <= high) {
            folded.add(other, other);
        }
    }
    Some(folded)
}

#[cfg(not(feature = "patterns"))]
pub(super) fn any_case(_: &CodePoints) -> Option<CodePoints> {
    None
}

/// Returns true if two characters are the same or differ only by case. The latter needs the tables.
pub(super) fn is_same_letter(one: char, other: char) -> bool {
    one == other || letters().binary_search(&(one, other)).is_ok()
}

/// Returns all pairs of different characters that differ only by case (simple case folding), in order.
#[cfg(feature = "patterns")]
fn letters() -> &'static [(char, char)] {
    use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

    static LETTERS: OnceLock<Vec<(char, char)>> = OnceLock::new();
    LETTERS.get_or_init(|| {
        let mut changing = CodePoints::default();
        for property in ["Changes_When_Casemapped", "Changes_When_Casefolded"] {
            if let Ok(Some(points)) = code_points(property) {
                changing.extend(&points);
            }
        }
        let mut letters = Vec::new();
        for letter in changing.sorted().ranges().iter().flat_map(|&(low, high)| low..=high) {
            let mut class = ClassUnicode::new([ClassUnicodeRange::new(letter, letter)]);
            if class.try_case_fold_simple().is_ok() {
                let all = class.iter().flat_map(|range| range.start()..=range.end());
                letters.extend(all.filter(|&other| other != letter).map(|other| (letter, other)));
            }
        }
        letters
    })
}

#[cfg(not(feature = "patterns"))]
fn letters() -> &'static [(char, char)] {
    &[]
}

/// Returns true if the text in the braces of `\p{…}` is the name of a property, or a property and its value.
pub(crate) fn is_property(text: &str) -> bool {
    match text.split_once('=') {
        Some(("General_Category" | "gc", value)) => is_one_of(CATEGORIES, value),
        Some(("Script" | "sc" | "Script_Extensions" | "scx", value)) => is_one_of(SCRIPTS, value),
        Some(_) => false,
        None => is_one_of(CATEGORIES, text) || is_one_of(BINARY, text),
    }
}

fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Binary properties and their short names (ECMA-262, table 55).
const BINARY: &str = "\
    ASCII ASCII_Hex_Digit AHex Alphabetic Alpha Any Assigned Bidi_Control Bidi_C Bidi_Mirrored \
    Bidi_M Case_Ignorable CI Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM \
    Changes_When_Lowercased CWL Changes_When_NFKC_Casefolded CWKCF Changes_When_Titlecased CWT \
    Changes_When_Uppercased CWU Dash Default_Ignorable_Code_Point DI Deprecated Dep Diacritic Dia \
    Emoji Emoji_Component EComp Emoji_Modifier EMod Emoji_Modifier_Base EBase Emoji_Presentation \
    EPres Extended_Pictographic ExtPict Extender Ext Grapheme_Base Gr_Base Grapheme_Extend Gr_Ext \
    Hex_Digit Hex IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC ID_Start IDS \
    Ideographic Ideo Join_Control Join_C Logical_Order_Exception LOE Lowercase Lower Math \
    Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS Quotation_Mark \
    QMark Radical Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD \
    Terminal_Punctuation Term Unified_Ideograph UIdeo Uppercase Upper Variation_Selector VS \
    White_Space space XID_Continue XIDC XID_Start XIDS";

/// General categories (`PropertyValueAliases.txt` of the Unicode Character Database).
const CATEGORIES: &str = "\
    C Other Cc Control cntrl Cf Format Cn Unassigned Co Private_Use Cs Surrogate L Letter LC \
    Cased_Letter Ll Lowercase_Letter Lm Modifier_Letter Lo Other_Letter Lt Titlecase_Letter Lu \
    Uppercase_Letter M Mark Combining_Mark Mc Spacing_Mark Me Enclosing_Mark Mn Nonspacing_Mark N \
    Number Nd Decimal_Number digit Nl Letter_Number No Other_Number P Punctuation punct Pc \
    Connector_Punctuation Pd Dash_Punctuation Pe Close_Punctuation Pf Final_Punctuation Pi \
    Initial_Punctuation Po Other_Punctuation Ps Open_Punctuation S Symbol Sc Currency_Symbol Sk \
    Modifier_Symbol Sm Math_Symbol So Other_Symbol Z Separator Zl Line_Separator Zp \
    Paragraph_Separator Zs Space_Separator";

/// Scripts up to Unicode 17 (the same file).
const SCRIPTS: &str = "\
    Adlam Adlm Aghb Ahom Anatolian_Hieroglyphs Arab Arabic Armenian Armi Armn Avestan Avst Bali \
    Balinese Bamu Bamum Bass Bassa_Vah Batak Batk Beng Bengali Berf Beria_Erfe Bhaiksuki Bhks Bopo \
    Bopomofo Brah Brahmi Brai Braille Bugi Buginese Buhd Buhid Cakm Canadian_Aboriginal Cans Cari \
    Carian Caucasian_Albanian Chakma Cham Cher Cherokee Chorasmian Chrs Common Copt Coptic Cpmn \
    Cprt Cuneiform Cypriot Cypro_Minoan Cyrillic Cyrl Deseret Deva Devanagari Diak Dives_Akuru \
    Dogr Dogra Dsrt Dupl Duployan Egyp Egyptian_Hieroglyphs Elba Elbasan Elym Elymaic Ethi \
    Ethiopic Gara Garay Geor Georgian Glag Glagolitic Gong Gonm Goth Gothic Gran Grantha Greek \
    Grek Gujarati Gujr Gukh Gunjala_Gondi Gurmukhi Guru Gurung_Khema Han Hang Hangul Hani \
    Hanifi_Rohingya Hano Hanunoo Hatr Hatran Hebr Hebrew Hira Hiragana Hluw Hmng Hmnp Hrkt Hung \
    Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Ital Java Javanese \
    Kaithi Kali Kana Kannada Katakana Katakana_Or_Hiragana Kawi Kayah_Li Khar Kharoshthi \
    Khitan_Small_Script Khmer Khmr Khoj Khojki Khudawadi Kirat_Rai Kits Knda Krai Kthi Lana Lao \
    Laoo Latin Latn Lepc Lepcha Limb Limbu Lina Linb Linear_A Linear_B Lisu Lyci Lycian Lydi \
    Lydian Mahajani Mahj Maka Makasar Malayalam Mand Mandaic Mani Manichaean Marc Marchen \
    Masaram_Gondi Medefaidrin Medf Meetei_Mayek Mend Mende_Kikakui Merc Mero Meroitic_Cursive \
    Meroitic_Hieroglyphs Miao Mlym Modi Mong Mongolian Mro Mroo Mtei Mult Multani Myanmar Mymr \
    Nabataean Nag_Mundari Nagm Nand Nandinagari Narb Nbat New_Tai_Lue Newa Nko Nkoo Nshu Nushu \
    Nyiakeng_Puachue_Hmong Ogam Ogham Ol_Chiki Ol_Onal Olck Old_Hungarian Old_Italic \
    Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur \
    Onao Oriya Orkh Orya Osage Osge Osma Osmanya Ougr Pahawh_Hmong Palm Palmyrene Pau_Cin_Hau Pauc \
    Perm Phag Phags_Pa Phli Phlp Phnx Phoenician Plrd Prti Psalter_Pahlavi Qaac Qaai Rejang Rjng \
    Rohg Runic Runr Samaritan Samr Sarb Saur Saurashtra Sgnw Sharada Shavian Shaw Shrd Sidd \
    Siddham Sidetic Sidt SignWriting Sind Sinh Sinhala Sogd Sogdian Sogo Sora Sora_Sompeng Soyo \
    Soyombo Sund Sundanese Sunu Sunuwar Sylo Syloti_Nagri Syrc Syriac Tagalog Tagb Tagbanwa Tai_Le \
    Tai_Tham Tai_Viet Tai_Yo Takr Takri Tale Talu Tamil Taml Tang Tangsa Tangut Tavt Tayo Telu \
    Telugu Tfng Tglg Thaa Thaana Thai Tibetan Tibt Tifinagh Tirh Tirhuta Tnsa Todhri Todr \
    Tolong_Siki Tols Toto Tulu_Tigalari Tutg Ugar Ugaritic Unknown Vai Vaii Vith Vithkuqi Wancho \
    Wara Warang_Citi Wcho Xpeo Xsux Yezi Yezidi Yi Yiii Zanabazar_Square Zanb Zinh Zyyy Zzzz";

#[cfg(all(test, feature = "patterns"))]
mod tests {
    use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

    use super::*;

    fn class(points: &CodePoints) -> ClassUnicode {
        let ranges = points.ranges().iter().map(|&(low, high)| ClassUnicodeRange::new(low, high));
        ClassUnicode::new(ranges)
    }

    #[test]
    fn the_letters_that_differ_by_case_are_those_of_the_tables() {
        let letters = letters();
        assert!(letters.len() > 2500 && letters.is_sorted());
        let mut known = CodePoints::default();
        for &(letter, _) in letters {
            known.add(letter, letter);
        }
        let others = known.negated();
        let mut folded = class(&others);
        folded.try_case_fold_simple().unwrap();
        assert_eq!(folded, class(&others));
        for (text, all) in [("ς", "Σσς"), ("k", "Kk\u{212a}"), ("ẞ", "ßẞ"), ("é1", "1Éé")]
        {
            let points = text.chars().map(CodePoints::one);
            let points = points.fold(CodePoints::default(), |mut all, point| {
                all.extend(&point);
                all
            });
            let folded = any_case(&points.sorted()).unwrap().sorted();
            let all = all.chars().map(|c| ClassUnicodeRange::new(c, c));
            assert_eq!(class(&folded), ClassUnicode::new(all));
        }
    }
}
