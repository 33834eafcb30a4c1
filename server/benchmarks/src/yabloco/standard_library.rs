//! Names of the standard libraries of C and C++.
//!
//! The original's call graph knows the headers that define a name. Here a name that the repository does not define counts as one of
//! the standard library if it is in this list.

use syntax::Language;

/// Functions of C's headers and of those of C++ that are called by their bare names, and common methods of C++'s containers.
const NAMES: &str = "abort abs accept access acos alloca asctime asin assert at atan atan2 atexit atof atoi atol atoll back begin \
    bind bsearch c_str calloc cbegin ceil cend clear clock close connect cos cosh count ctime data difftime div emplace emplace_back \
    empty end erase errno exit exp fabs fclose fcntl feof ferror fflush fgetc fgetpos fgets find floor fmod fopen forward fork fprintf \
    fputc fputs fread free freopen frexp front fscanf fseek fsetpos fstat ftell fwrite get getc getchar getenv getpid gets \
    gettimeofday gmtime insert ioctl isalnum isalpha iscntrl isdigit isgraph islower isnan isprint ispunct isspace isupper isxdigit \
    kill labs length listen llabs localtime log log10 log2 longjmp lseek make_pair make_shared make_unique malloc max mblen mbstowcs \
    memchr memcmp memcpy memmove memset min mktime mmap modf move munmap nanosleep offsetof open perror pipe poll pop_back pop_front \
    pow printf push_back push_front pthread_create pthread_join pthread_mutex_lock pthread_mutex_unlock putc putchar puts qsort raise \
    rand rbegin read realloc recv release remove rename rend reserve reset resize rewind scanf select send setbuf setjmp setlocale \
    setsockopt setvbuf sigaction signal sin sinh size sleep snprintf socket sort sprintf sqrt srand sscanf stat strcasecmp strcat \
    strchr strcmp strcoll strcpy strcspn strdup strerror strftime strlen strncasecmp strncat strncmp strncpy strpbrk strrchr strspn \
    strstr strtod strtok strtol strtoll strtoul strtoull strxfrm substr swap system tan tanh time tmpfile tmpnam to_string tolower \
    toupper ungetc unlink usleep va_arg va_end va_start vfprintf vprintf vsnprintf vsprintf wait waitpid wcslen write";

/// Whether the standard library of a language has a function of this name. Only C's and C++'s are known.
pub(super) fn is_in_standard_library(language: Language, name: &str) -> bool {
    matches!(language, Language::C | Language::Cpp)
        && NAMES.split_ascii_whitespace().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_c_are_known() {
        assert!(is_in_standard_library(Language::C, "memcpy"));
        assert!(!is_in_standard_library(Language::Cpp, "zmalloc"));
        assert!(!is_in_standard_library(Language::Python, "open"));
    }
}
