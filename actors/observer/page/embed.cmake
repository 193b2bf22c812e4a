# cmake -DFOLDER=... -DOUTPUT=... -P embed.cmake: the page in one piece, as C++, with the hashes by
# which its Content-Security-Policy knows its style and its script.

# base64_of(RESULT HEX): of 32 bytes in hexadecimal digits. Three of these are two letters; one of
# the 64 is left over, whose four bits and two zeros are the last letter.
function(base64_of RESULT HEX)
  set(letters ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text)
  foreach(group RANGE 0 20)
    math(EXPR at "3 * ${group}")
    string(SUBSTRING ${HEX} ${at} 3 digits)
    math(EXPR high "0x${digits} / 64")
    math(EXPR low "0x${digits} % 64")
    foreach(number ${high} ${low})
      string(SUBSTRING ${letters} ${number} 1 letter)
      string(APPEND text ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING ${HEX} 63 1 digit)
  math(EXPR last "0x${digit} * 4")
  string(SUBSTRING ${letters} ${last} 1 letter)
  set(${RESULT} "${text}${letter}=" PARENT_SCOPE)
endfunction()

file(READ ${FOLDER}/style.css style)
file(READ ${FOLDER}/script.js script)
file(READ ${FOLDER}/index.html page)
foreach(part style script)
  string(SHA256 hex "${${part}}")
  base64_of(${part}_hash ${hex})
endforeach()
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
file(WRITE ${OUTPUT} "// Made by embed.cmake.

#include \"page.hpp\"

namespace basal::observer {

const std::string_view page{R\"basal_page(${page})basal_page\"};

const std::string_view page_policy{
  \"default-src 'none'; script-src 'sha256-${script_hash}'; style-src 'sha256-${style_hash}'; \"
  \"connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \"
  \"frame-ancestors 'none'\"};

} // namespace basal::observer
")
